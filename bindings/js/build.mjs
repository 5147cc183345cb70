// Builds the package in place: the Node-API module for this machine in prebuilds/, lydite.wasm, lydite-captp.wasm and
// dist/. Run by `npm install`, here and for dependents that install this package by path. Requires Rust. With the
// argument --portable, builds all except the Node-API module.

import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { resolve } from 'node:path'

process.chdir(import.meta.dirname)
const run = (command, ...args) =>
  new Promise((done, failed) => {
    spawn(command, args, { stdio: 'inherit' })
      .on('error', failed)
      .on('exit', (code) => (code === 0 ? done() : failed(new Error(`${command} ${args.join(' ')}: exit code ${code}`))))
  })
const WASM = 'wasm32-unknown-unknown'
const target = resolve(process.env.CARGO_TARGET_DIR ?? 'target')
const library = { win32: 'lydite_js.dll', darwin: 'liblydite_js.dylib' }[process.platform] ?? 'liblydite_js.so'
const native = process.argv[2] !== '--portable'
const build = ['build', '--quiet', '--locked', '--profile']

// Without rustup, the target must come with the system's Rust; otherwise cargo reports what is missing.
await run('rustup', 'target', 'add', WASM).catch(() => {})
// In parallel, since each spends much of its time on one core. Cargo locks a target directory, so each has its own.
await Promise.all([
  native && run('cargo', ...build, 'release', '--target-dir', target),
  run('cargo', ...build, 'release', '--target-dir', `${target}/wasm`, '--target', WASM).then(() =>
    run('cargo', ...build, 'captp', '--target-dir', `${target}/captp`, '--target', WASM, '--features', 'captp')),
])
copyFileSync(`${target}/wasm/${WASM}/release/lydite_js.wasm`, 'lydite.wasm')
copyFileSync(`${target}/captp/${WASM}/captp/lydite_js.wasm`, 'lydite-captp.wasm')
// npm links a package given by path without its development dependencies.
if (!existsSync('node_modules/typescript'))
  await run('npm', 'ci', '--ignore-scripts', '--include=dev', '--no-global', '--no-audit', '--no-fund', '--loglevel=error')
await run('node', 'node_modules/typescript/bin/tsc', '-p', '.')
if (native) {
  const { prebuild } = await import('./dist/native.js')
  mkdirSync('prebuilds', { recursive: true })
  copyFileSync(`${target}/release/${library}`, `prebuilds/${prebuild()}`)
}

// Builds the package in place: lydite.node, lydite.wasm and dist/. Run by `npm install`, here and for dependents that
// install this package by path. Requires Rust.

import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync } from 'node:fs'
import { resolve } from 'node:path'

process.chdir(import.meta.dirname)
const run = (command, ...args) => execFileSync(command, args, { stdio: 'inherit' })
const WASM = 'wasm32-unknown-unknown'
const target = resolve(process.env.CARGO_TARGET_DIR ?? 'target')
const library = { win32: 'lydite_js.dll', darwin: 'liblydite_js.dylib' }[process.platform] ?? 'liblydite_js.so'

run('cargo', 'build', '--quiet', '--locked', '--release')
copyFileSync(`${target}/release/${library}`, 'lydite.node')
// Without rustup, the target must come with the system's Rust; otherwise cargo reports what is missing.
try {
  run('rustup', 'target', 'add', WASM)
} catch {}
run('cargo', 'build', '--quiet', '--locked', '--release', '--target', WASM)
copyFileSync(`${target}/${WASM}/release/lydite_js.wasm`, 'lydite.wasm')
// npm links a package given by path without its development dependencies.
if (!existsSync('node_modules/typescript'))
  run('npm', 'ci', '--ignore-scripts', '--include=dev', '--no-global', '--no-audit', '--no-fund', '--loglevel=error')
run('npx', 'tsc', '-p', '.')

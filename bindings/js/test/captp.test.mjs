// CapTP on Node, Bun and Chromium, with two peers written in Rust.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inChromium } from './chromium.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const TESTS = 10

test('the example of a tool server', () => {
  const printed = execFileSync('npm', ['run', '--silent', 'example'], { cwd: here('..'), encoding: 'utf8', timeout: 60_000 })
  const write = 'refused: these notes are read-only'
  const none = 'refused: no reads left'
  assert.deepEqual(printed.trim().split('\n'), [write, 'buy milk', none, write, 'buy milk', 'buy milk', write, none, none])
})

test('CapTP', { timeout: 600_000 }, async (context) => {
  const example = ['--package', 'lydite-ocapn-net', '--features', 'websocket', '--example', 'suite_websocket']
  const run = (command) => ['cargo', [command, '--quiet', '--locked', ...example], { cwd: here('../../..'), stdio: ['ignore', 'pipe', 'inherit'] }]
  execFileSync(...run('build'))
  const servers = [spawn(...run('run')), spawn(...run('run'))]
  try {
    const peers = await Promise.all(servers.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()))
    // Before version 22, Node has WebSocket only with a flag.
    const flags = globalThis.WebSocket ? [] : ['--experimental-websocket', '--no-warnings']
    for (const [name, command, ...args] of [['Node', 'node', ...flags], ['Bun', here('node_modules/.bin/bun')]])
      await context.test(name, () => {
        const printed = execFileSync(command, [...args, here('captp-node.mjs'), ...peers], { encoding: 'utf8', timeout: 60_000 })
        assert.equal(printed.trim().split('\n').length, TESTS, printed)
      })
    await context.test('Chromium', (context) => inChromium(context, 'captp.html', peers.map((peer) => ['peer', peer]), TESTS))
  } finally {
    for (const server of servers) server.kill()
  }
})

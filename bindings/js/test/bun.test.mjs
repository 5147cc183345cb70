// The tests of both engines under Bun.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

test('Bun', () => {
  // npm's package `bun` brings the program for this machine as a package of its own.
  const [build] = readdirSync(here('node_modules/@oven'))
  const output = execFileSync(here(`node_modules/@oven/${build}/bin/bun`), [here('bun.mjs')], { encoding: 'utf8' })
  assert.match(output, /^[2-9]\d passed, Bun \d/m)
})

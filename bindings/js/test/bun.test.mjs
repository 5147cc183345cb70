// Tests both engines under Bun.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

test('Bun', () => {
  const output = execFileSync(here('node_modules/.bin/bun'), [here('bun.mjs')], { encoding: 'utf8' })
  assert.match(output, /^[2-9]\d passed, Bun \d/m)
})

// Runs a page of tests in headless Chromium.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'

const root = new URL('../../../', import.meta.url).pathname
const PLACES = { js: join(root, 'bindings/js'), vectors: join(root, 'vectors') }
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm' }

/** Opens a page of this folder, which posts its results as JSON. `query` is passed to it. */
export async function inChromium(context, page, query, expected) {
  let report
  const reported = new Promise((resolve) => (report = resolve))
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      let body = ''
      request.on('data', (part) => (body += part)).on('end', () => {
        response.end()
        report(JSON.parse(body))
      })
      return
    }
    const [, place, ...rest] = normalize(request.url.split('?')[0]).split('/')
    try {
      const body = readFileSync(join(PLACES[place], ...rest))
      response.writeHead(200, { 'content-type': TYPES[extname(rest.at(-1))] ?? 'text/plain' }).end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const profile = mkdtempSync(join(tmpdir(), 'lydite-'))
  const url = `http://127.0.0.1:${server.address().port}/js/test/${page}?${new URLSearchParams(query)}`
  const browser = spawn('chromium', [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--user-data-dir=${profile}`, url,
  ], { stdio: 'ignore' })
  try {
    const ended = new Promise((_, reject) => browser.on('error', reject).on('exit', (code) => reject(new Error(`chromium ended: ${code}`))))
    const results = await Promise.race([reported, ended])
    assert.ok(results.length >= expected, JSON.stringify(results))
    for (const { name, error } of results)
      await context.test(name, () => {
        if (error) throw new Error(error)
      })
  } finally {
    browser.removeAllListeners('exit')
    browser.kill()
    server.close()
    await new Promise((resolve) => setTimeout(resolve, 300))
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

// The WebAssembly engine in headless Chromium.

import { test } from 'node:test'
import { inChromium } from './chromium.mjs'

test('Chromium', { timeout: 120_000 }, (context) => inChromium(context, 'browser.html', {}, 11))

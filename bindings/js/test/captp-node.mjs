// The suite on Node and Bun; the locators are the arguments. Prints the names of the tests.

import * as module from 'lydite/captp'
import { captpSuite } from './captp-suite.mjs'

await captpSuite(module, process.argv.slice(2), async (name, body) => {
  await body()
  console.log(name)
})
process.exit(0)

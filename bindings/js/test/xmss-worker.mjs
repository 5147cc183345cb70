// Opens the key file at its path and signs epochs 6 and 7; posts the result for the first.

import { parentPort, workerData } from 'node:worker_threads'
import lydite from 'lydite'

const key = lydite.xmssKeyFileOpen('leansig-test', workerData)
let refusal
try {
  key.sign(6, new Uint8Array(32))
} catch (error) {
  refusal = error.message
}
key.sign(7, new Uint8Array(32))
parentPort.postMessage(refusal)

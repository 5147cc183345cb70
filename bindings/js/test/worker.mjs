import { parentPort } from 'node:worker_threads'
import { engine, keccak256, toHex } from 'lydite'

let hash = new Uint8Array(32)
for (let i = 0; i < 50_000; i++) hash = keccak256(hash)
parentPort.postMessage(engine + toHex(hash))

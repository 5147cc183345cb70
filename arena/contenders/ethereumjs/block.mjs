// A node's work on a block, by @ethereumjs/tx, mpt and vm. Its transactions reject the generated chain ids of some rows of
// senders and transactions roots, which exceed 2^53.
import { createBlock, genTransactionsTrieRoot } from '@ethereumjs/block'
import { createEVM } from '@ethereumjs/evm'
import { createMPT } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { Caches, MerkleStateManager, SimpleStateManager } from '@ethereumjs/statemanager'
import { createTxFromRLP } from '@ethereumjs/tx'
import { Account, Address, concatBytes } from '@ethereumjs/util'
import { Bloom, createVM, encodeReceipt, runTx } from '@ethereumjs/vm'
import { later, many, Reader } from '../../kit/js/kit.mjs'

const TOKEN = new Address(new Uint8Array(20).fill(0xc0))
const FUNDS = 2n ** 100n
const GAS = 200_000n

/** Receipts as `encodeReceipt` takes them, without bloom filters, with their types. */
const readReceipts = (item) =>
  many(item, (r) => {
    const [type, status] = r.take(2)
    const receipt = { status, cumulativeBlockGasUsed: r.le(8), logs: [] }
    for (let logs = r.u32(); logs > 0; logs--) {
      const address = r.take(20)
      const topics = Array.from({ length: r.take(1)[0] }, () => r.take(32))
      receipt.logs.push([address, topics, r.lp()])
    }
    return { type, receipt }
  })

const bloomOf = (logs) => {
  const bloom = new Bloom()
  for (const [address, topics] of logs) {
    bloom.add(address)
    for (const topic of topics) bloom.add(topic)
  }
  return bloom.bitvector
}

/** The root of the trie of receipts, and the bloom filter of all of them. */
const receiptRoots = async (receipts, common) => {
  const trie = await createMPT({ common })
  const all = new Bloom()
  for (const [i, { type, receipt }] of receipts.entries()) {
    // `runTx` has computed it.
    const bitvector = receipt.bitvector ?? bloomOf(receipt.logs)
    all.or(new Bloom(bitvector))
    await trie.put(RLP.encode(i), encodeReceipt({ ...receipt, bitvector }, type))
  }
  return [trie.root(), all.bitvector]
}

const trieState = async (common) =>
  new MerkleStateManager({ common, trie: await createMPT({ common, useKeyHashing: true }), caches: new Caches() })

/** Adds what is there before a block. */
const fill = async (state, code, accounts) => {
  for (const address of accounts) await state.putAccount(address, new Account(0n, FUNDS))
  await state.putAccount(TOKEN, new Account())
  await state.putCode(TOKEN, code)
  await state.flush()
  return state
}

const readAccounts = (reader) => Array.from({ length: reader.u32() }, () => new Address(reader.take(20)))
const rest = (reader, one) => many(reader.bytes.subarray(reader.at), one)

const transactionOf = (common) => (raw) => createTxFromRLP(raw, { common })
const hashesAndSenders = (transactions) => transactions.flatMap((tx) => [tx.hash(), tx.getSenderAddress().bytes])
const transactionsRoot = async (transactions, common) =>
  genTransactionsTrieRoot(transactions, await createMPT({ common }))
const lps = (item) => many(item, (r) => r.lp())

/**
 * The operations of the family `block`, by the rules of `common`. Transactions of real blocks have those of `past`: some
 * have more gas than later rules allow.
 */
export const operations = (common, past) => ({
  block_senders_mainnet: later(lps, async (raw) => [concatBytes(...hashesAndSenders(raw.map(transactionOf(past))))]),
  block_transactions_root_mainnet: later(
    (item) => lps(item).map(transactionOf(past)),
    async (transactions) => [await transactionsRoot(transactions, common)],
  ),
  block_body: later(
    (item) => {
      const reader = new Reader(item)
      const raw = lps(reader.lp())
      return { raw, receipts: readReceipts(reader.bytes.subarray(reader.at)) }
    },
    async ({ raw, receipts }) => {
      const transactions = raw.map(transactionOf(past))
      const root = await transactionsRoot(transactions, common)
      return [concatBytes(...hashesAndSenders(transactions), root, ...(await receiptRoots(receipts, common)))]
    },
  ),
  block_receipts_root: later(readReceipts, async (receipts) => [concatBytes(...(await receiptRoots(receipts, common)))]),
  block_execution: later(
    (item) => {
      const reader = new Reader(item)
      const code = reader.lp()
      const calls = rest(reader, (r) => ({ caller: new Address(r.take(20)), to: new Address(r.take(20)), data: r.lp() }))
      const accounts = [...new Map(calls.map(({ caller }) => [caller.toString(), caller])).values()]
      // No root is asked for.
      return { calls, state: fill(new SimpleStateManager({ common }), code, accounts) }
    },
    async ({ calls, state }) => {
      const evm = await createEVM({ common, stateManager: (await state).shallowCopy() })
      const outputs = []
      for (const { caller, to, data } of calls) {
        const value = data.length ? 0n : 1n
        const { execResult } = await evm.runCall({ caller, to, data, value, gasLimit: GAS })
        if (execResult.exceptionError) throw new Error(execResult.exceptionError.error)
        outputs.push(data.length ? execResult.returnValue : new Uint8Array(32))
      }
      return [concatBytes(...outputs)]
    },
  ),
  block_import: later(
    (item) => {
      const reader = new Reader(item)
      const code = reader.lp()
      const accounts = readAccounts(reader)
      return { list: rest(reader, (r) => r.lp()), state: trieState(common).then((state) => fill(state, code, accounts)) }
    },
    async ({ list, state }) => {
      const stateManager = (await state).shallowCopy()
      const vm = await createVM({ common, stateManager })
      const block = createBlock({ header: { number: 1n, gasLimit: 2n ** 40n, baseFeePerGas: 0n } }, { common })
      const transactions = list.map(transactionOf(common))
      const out = hashesAndSenders(transactions)
      out.push(await transactionsRoot(transactions, common))
      // As in `runBlock`: what transactions change stays in the caches until the end of the block.
      await vm.evm.journal.checkpoint()
      const receipts = []
      let blockGasUsed = 0n
      for (const tx of transactions) {
        const { receipt } = await runTx(vm, { tx, block, blockGasUsed })
        blockGasUsed = receipt.cumulativeBlockGasUsed
        receipts.push({ type: tx.type, receipt })
      }
      await vm.evm.journal.commit()
      out.push(...(await receiptRoots(receipts, common)), await stateManager.getStateRoot())
      return [concatBytes(...out)]
    },
  ),
})

package main

import (
	. "arenakit"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/trie"
)

func readReceipts(item []byte) types.Receipts {
	return All(item, func(r *Reader) *types.Receipt {
		head := r.Take(2)
		receipt := &types.Receipt{Type: head[0], Status: uint64(head[1]), CumulativeGasUsed: r.U64()}
		for n := r.U32(); n > 0; n-- {
			log := &types.Log{Address: common.BytesToAddress(r.Take(20))}
			for topics := r.Take(1)[0]; topics > 0; topics-- {
				log.Topics = append(log.Topics, common.BytesToHash(r.Take(32)))
			}
			log.Data = r.Lp()
			receipt.Logs = append(receipt.Logs, log)
		}
		return receipt
	})
}

// recoverAll returns hash and sender of each transaction, and the transactions.
func recoverAll(raw [][]byte) ([]byte, types.Transactions) {
	out := make([]byte, 0, 52*len(raw)+320)
	list := make(types.Transactions, len(raw))
	for i, raw := range raw {
		tx, from := transactionAndSender(raw)
		hash := tx.Hash()
		out = append(append(out, hash[:]...), from[:]...)
		list[i] = tx
	}
	return out, list
}

func transactionsRoot(list types.Transactions) []byte {
	root := types.DeriveSha(list, trie.NewStackTrie(nil))
	return root[:]
}

func receiptsRoot(list types.Receipts) []byte {
	for _, receipt := range list {
		receipt.Bloom = types.CreateBloom(receipt)
	}
	root := types.DeriveSha(list, trie.NewStackTrie(nil))
	bloom := types.MergeBloom(list)
	return append(root[:], bloom[:]...)
}

// body is a block's raw transactions and receipts.
type body struct {
	raw      [][]byte
	receipts types.Receipts
}

// block adds what a node does with a block.
func block(ops map[string]Op) {
	ops["block_senders"] = One(lps, func(raw [][]byte, sum *Sum) {
		out, _ := recoverAll(raw)
		sum.Bytes(out)
	})
	ops["block_senders_mainnet"] = ops["block_senders"]
	ops["block_transactions_root"] = One(func(item []byte) types.Transactions {
		return All(item, func(r *Reader) *types.Transaction { return must(decodeTransaction(r.Lp())) })
	}, func(list types.Transactions, sum *Sum) { sum.Bytes(transactionsRoot(list)) })
	ops["block_transactions_root_mainnet"] = ops["block_transactions_root"]
	ops["block_receipts_root"] = One(readReceipts, func(list types.Receipts, sum *Sum) { sum.Bytes(receiptsRoot(list)) })
	ops["block_body"] = One(func(item []byte) body {
		r := &Reader{item}
		return body{lps(r.Lp()), readReceipts(r.Data)}
	}, func(block body, sum *Sum) {
		out, list := recoverAll(block.raw)
		out = append(out, transactionsRoot(list)...)
		sum.Bytes(append(out, receiptsRoot(block.receipts)...))
	})
}

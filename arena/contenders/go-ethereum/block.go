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

// block adds what a node does with a block.
func block(ops map[string]Op) {
	ops["block_senders"] = One(lps, func(list [][]byte, sum *Sum) {
		out := make([]byte, 0, 52*len(list))
		for _, raw := range list {
			hash, from := hashAndSender(raw)
			out = append(append(out, hash[:]...), from[:]...)
		}
		sum.Bytes(out)
	})
	ops["block_transactions_root"] = One(func(item []byte) types.Transactions {
		return All(item, func(r *Reader) *types.Transaction { return must(decodeTransaction(r.Lp())) })
	}, func(list types.Transactions, sum *Sum) {
		root := types.DeriveSha(list, trie.NewStackTrie(nil))
		sum.Bytes(root[:])
	})
	ops["block_receipts_root"] = One(readReceipts, func(list types.Receipts, sum *Sum) {
		for _, receipt := range list {
			receipt.Bloom = types.CreateBloom(receipt)
		}
		root := types.DeriveSha(list, trie.NewStackTrie(nil))
		bloom := types.MergeBloom(list)
		sum.Bytes(append(root[:], bloom[:]...))
	})
}

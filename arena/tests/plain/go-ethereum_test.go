// Plain loops for arena/tests/plain/check.py: go-ethereum as its users call it, without the arena's kit.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	evm "github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/crypto/secp256k1"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"
)

// Sinks, so that nothing is optimised away.
var (
	bytesSink []byte
	textSink  string
	limbSink  uint64
)

func numbers(item []byte) (out []uint256.Int) {
	for ; len(item) > 0; item = item[32:] {
		var little [32]byte
		for i := range little {
			little[i] = item[31-i]
		}
		out = append(out, *new(uint256.Int).SetBytes(little[:]))
	}
	return out
}

func pieces(item []byte, size int) (out [][]byte) {
	for ; len(item) > 0; item = item[size:] {
		out = append(out, item[:size])
	}
	return out
}

// loop returns the loop over the items: n calls.
func loop(row string, items [][]byte) func(n int) {
	each := func(call func(i int)) func(int) {
		return func(n int) {
			for k := 0; k < n; k++ {
				call(k % len(items))
			}
		}
	}
	precompile := func(address byte) func(int) {
		contract := vm.PrecompiledContractsOsaka[common.BytesToAddress([]byte{address})]
		return each(func(i int) {
			if contract.RequiredGas(items[i]) > 1<<60 {
				panic("gas")
			}
			bytesSink, _ = contract.Run(items[i])
		})
	}
	switch row {
	case "keccak256_32b", "keccak256_1kb":
		return each(func(i int) { bytesSink = crypto.Keccak256(items[i]) })
	case "u256_add", "u256_mul":
		var list [][]uint256.Int
		for _, item := range items {
			list = append(list, numbers(item))
		}
		add := row == "u256_add"
		return each(func(i int) {
			var z uint256.Int
			var total uint64
			for row := list[i]; len(row) > 0; row = row[2:] {
				if add {
					z.Add(&row[0], &row[1])
				} else {
					z.Mul(&row[0], &row[1])
				}
				total += z[0] + z[1] + z[2] + z[3]
			}
			limbSink += total
		})
	case "hex_encode_32b":
		return each(func(i int) {
			for item := items[i]; len(item) > 0; item = item[32:] {
				textSink = hex.EncodeToString(item[:32])
			}
		})
	case "hex_decode_32b":
		var list [][]string
		for _, item := range items {
			var texts []string
			for _, text := range pieces(item, 64) {
				texts = append(texts, string(text))
			}
			list = append(list, texts)
		}
		return each(func(i int) {
			for _, text := range list[i] {
				bytesSink, _ = hex.DecodeString(text)
			}
		})
	case "abi_encode_static":
		type pair struct {
			to     common.Address
			amount *big.Int
		}
		var list [][]pair
		for _, item := range items {
			var rows []pair
			for _, row := range pieces(item, 52) {
				rows = append(rows, pair{common.BytesToAddress(row[:20]), new(big.Int).SetBytes(row[20:])})
			}
			list = append(list, rows)
		}
		return each(func(i int) {
			for _, row := range list[i] {
				bytesSink, _ = static.Pack(row.to, row.amount)
			}
		})
	case "rlp_decode_u256":
		return each(func(i int) {
			var value uint256.Int
			var total uint64
			for item := items[i]; len(item) > 0; {
				end := 4 + binary.LittleEndian.Uint32(item)
				if err := rlp.DecodeBytes(item[4:end], &value); err != nil {
					panic(err)
				}
				total += value[0] + value[1] + value[2] + value[3]
				item = item[end:]
			}
			limbSink += total
		})
	case "secp256k1_sign":
		return each(func(i int) { bytesSink, _ = secp256k1.Sign(items[i][32:], items[i][:32]) })
	case "precompile_07":
		return precompile(7)
	case "precompile_10":
		return precompile(16)
	case "bytecode":
		to := common.HexToAddress("0xc0de")
		var engines []*vm.EVM
		var states []*state.StateDB
		for _, item := range items {
			config := *params.MergedTestChainConfig
			db, _ := state.New(types.EmptyRootHash, state.NewDatabaseForTesting())
			db.CreateAccount(to)
			db.SetCode(to, item[4:7], tracing.CodeChangeUnspecified)
			engines = append(engines, evm.NewEnv(&evm.Config{
				ChainConfig: &config, State: db, Random: new(common.Hash), GasPrice: new(big.Int), BlockNumber: new(big.Int),
			}))
			states = append(states, db)
		}
		return each(func(i int) {
			before := states[i].Snapshot()
			var err error
			bytesSink, _, err = engines[i].Call(common.Address{}, to, items[i][7:], vm.NewGasBudget(60_000_000, 0), new(uint256.Int))
			if err != nil {
				panic(err)
			}
			states[i].RevertToSnapshot(before)
		})
	}
	panic("no loop for " + row)
}

func TestPlain(*testing.T) {
	var run func(int)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		words := strings.Fields(in.Text())
		if words[0] == "prepare" {
			data, err := os.ReadFile(words[2])
			if err != nil {
				panic(err)
			}
			var items [][]byte
			for len(data) > 0 {
				end := 4 + binary.LittleEndian.Uint32(data)
				items, data = append(items, data[4:end]), data[end:]
			}
			run = loop(words[1], items)
			fmt.Println("{}")
			continue
		}
		var n int
		fmt.Sscan(words[1], &n)
		start := time.Now()
		run(n)
		fmt.Printf("{\"ns\":%d}\n", time.Since(start).Nanoseconds())
	}
}

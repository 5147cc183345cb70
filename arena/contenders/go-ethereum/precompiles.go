package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	. "arenakit"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/crypto/kzg4844"
	"github.com/ethereum/go-ethereum/params"
)

// Gas of a program, as docs/adding-a-contender.md has it.
const programGas = 30_000_000

var contract = common.BytesToAddress([]byte("contract"))

// What a program needs besides its code: Osaka, the gas, and call data of 32 KB in the report's programs.
func config(gas uint64) *runtime.Config {
	config := *params.MergedTestChainConfig
	return &runtime.Config{ChainConfig: &config, GasLimit: gas}
}

func deploy(cfg *runtime.Config, code []byte) {
	cfg.State = must(state.New(types.EmptyRootHash, state.NewDatabaseForTesting()))
	cfg.State.CreateAccount(contract)
	cfg.State.SetCode(contract, code, tracing.CodeChangeUnspecified)
}

type program struct {
	cfg  *runtime.Config
	data []byte
}

// Two parts: a status byte, then the output.
func precompiles(ops map[string]Op) {
	if len(os.Args) > 1 && os.Args[1] == "ckzg" {
		if err := kzg4844.UseCKZG(true); err != nil {
			panic(err)
		}
	}
	success, failure := []byte{1}, []byte{0}
	for address, precompile := range vm.PrecompiledContractsOsaka {
		number := address.Big().Uint64()
		ops[fmt.Sprintf("precompile_%02x", number)] = Many(Same, func(input []byte, emit func([]byte)) {
			gas := vm.NewGasBudget(math.MaxUint64/2, 0)
			// No cache of results is attached, as in Geth's own benchmarks.
			out, _, err := vm.RunPrecompiledContract(nil, precompile, address, input, gas, nil, params.Rules{}, nil)
			if err != nil {
				emit(failure)
				return
			}
			emit(success)
			emit(out)
		})
	}
	calldata := make([]byte, 32*1024)
	ops["bytecode_setup"] = One(func(item []byte) string { return string(item) }, func(text string) []byte {
		cfg := config(programGas)
		deploy(cfg, common.Hex2Bytes(text))
		_, left, err := runtime.Call(contract, calldata, cfg)
		if err != nil {
			panic(err)
		}
		return binary.LittleEndian.AppendUint64(nil, programGas-left)
	})
	ops["bytecode"] = One(func(item []byte) program {
		r := &Reader{Data: item}
		cfg := config(2 * programGas)
		deploy(cfg, r.Lp())
		return program{cfg, r.Data}
	}, func(p program) []byte {
		before := p.cfg.State.Snapshot()
		out, _, err := runtime.Call(contract, p.data, p.cfg)
		if err != nil {
			panic(err)
		}
		p.cfg.State.RevertToSnapshot(before)
		return out
	})
}

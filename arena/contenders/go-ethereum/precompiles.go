package main

import (
	"fmt"
	"math"
	"math/big"
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
	"github.com/holiman/uint256"
)

// Gas of a program, see docs/adding-a-contender.md.
const programGas = 30_000_000

var contract = common.BytesToAddress([]byte("contract"))

// chain returns what a program needs in addition to its code: a state, and the Osaka settings that runtime.Call
// defaults to.
func chain(gas uint64, code []byte) *runtime.Config {
	config := *params.MergedTestChainConfig
	cfg := &runtime.Config{
		ChainConfig: &config, GasLimit: gas, Difficulty: new(big.Int), GasPrice: new(big.Int), Value: new(big.Int),
		BlockNumber: new(big.Int), BaseFee: big.NewInt(params.InitialBaseFee),
		BlobBaseFee: big.NewInt(params.BlobTxMinBlobGasprice), Random: new(common.Hash),
		State: must(state.New(types.EmptyRootHash, state.NewDatabaseForTesting())),
	}
	cfg.State.CreateAccount(contract)
	cfg.State.SetCode(contract, code, tracing.CodeChangeUnspecified)
	return cfg
}

// program is a deployed contract, the engine that runs it, and its call data.
type program struct {
	engine *vm.EVM
	state  *state.StateDB
	data   []byte
}

func deploy(item []byte) program {
	r := &Reader{Data: item}
	cfg := chain(2*programGas, r.Lp())
	engine := runtime.NewEnv(cfg)
	rules := cfg.ChainConfig.Rules(cfg.BlockNumber, true, cfg.Time)
	cfg.State.Prepare(rules, cfg.Origin, cfg.Coinbase, &contract, vm.ActivePrecompiles(rules), nil)
	return program{engine, cfg.State, r.Data}
}

var nothing uint256.Int

func precompiles(ops map[string]Op) {
	if len(os.Args) > 1 && os.Args[1] == "ckzg" {
		if err := kzg4844.UseCKZG(true); err != nil {
			panic(err)
		}
	}
	for address, precompile := range vm.PrecompiledContractsOsaka {
		number := address.Big().Uint64()
		ops[fmt.Sprintf("precompile_%02x", number)] = One(Same, func(input []byte, sum *Sum) {
			gas := vm.NewGasBudget(math.MaxUint64/2, 0)
			// No result cache is attached, as in Geth's own benchmarks.
			out, _, err := vm.RunPrecompiledContract(nil, precompile, address, input, gas, nil, params.Rules{}, nil)
			if err != nil {
				sum.Byte(0)
				return
			}
			sum.Byte(1)
			sum.Bytes(out)
		})
	}
	// The report's programs get call data of 32 KB.
	calldata := make([]byte, 32*1024)
	ops["bytecode_setup"] = One(Same, func(text []byte, sum *Sum) {
		_, left, err := runtime.Call(contract, calldata, chain(programGas, common.Hex2Bytes(Text(text))))
		if err != nil {
			panic(err)
		}
		sum.U64(programGas - left)
	})
	ops["bytecode"] = One(deploy, func(p program, sum *Sum) {
		before := p.state.Snapshot()
		out, _, err := p.engine.Call(common.Address{}, contract, p.data, vm.NewGasBudget(2*programGas, 0), &nothing)
		if err != nil {
			panic(err)
		}
		sum.Bytes(out)
		p.state.RevertToSnapshot(before)
	}).Borrows()
}

// Erigon as a contender: the precompiles of the checkout that the workspace refers to.
package main

import (
	"fmt"
	"reflect"

	. "arenakit"

	"github.com/erigontech/erigon/execution/vm"
)

// Set by the build to the version of the checkout.
var version = "unknown"

// An address is an array of 20 bytes, which has a method Value for databases, or (since 3.3) a handle, whose method
// Value returns the array.
func number(address any) (number uint64) {
	value := reflect.ValueOf(address)
	if value.Kind() != reflect.Array {
		value = value.MethodByName("Value").Call(nil)[0]
	}
	for i := range value.Len() {
		number = number<<8 | value.Index(i).Uint()
	}
	return number
}

func main() {
	ops := map[string]Op{}
	for address, precompile := range vm.PrecompiledContractsOsaka {
		// Two parts: a status byte, then the output.
		ops[fmt.Sprintf("precompile_%02x", number(address))] = One(Same, func(input []byte, sum *Sum) {
			gas := precompile.RequiredGas(input)
			out, err := precompile.Run(input)
			if err != nil || gas > 1<<62 {
				sum.Byte(0)
				return
			}
			sum.Byte(1)
			sum.Bytes(out)
		})
	}
	Run("erigon", version, ops)
}

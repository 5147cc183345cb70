// Erigon as a contender: the precompiles of the checkout that the workspace points to.
package main

import (
	"fmt"
	"reflect"

	. "arenakit"

	"github.com/erigontech/erigon/execution/vm"
)

// The build says which checkout it is.
var version = "unknown"

// An address is an array of 20 bytes, or a handle of one (since 3.3).
func number(address any) (number uint64) {
	value := reflect.ValueOf(address)
	if handle := value.MethodByName("Value"); handle.IsValid() {
		value = handle.Call(nil)[0]
	}
	for i := range value.Len() {
		number = number<<8 | value.Index(i).Uint()
	}
	return number
}

func main() {
	ops := map[string]Op{}
	success, failure := []byte{1}, []byte{0}
	for address, precompile := range vm.PrecompiledContractsOsaka {
		// Two parts: a status byte, then the output.
		ops[fmt.Sprintf("precompile_%02x", number(address))] = Many(Same, func(input []byte, emit func([]byte)) {
			gas := precompile.RequiredGas(input)
			out, err := precompile.Run(input)
			if err != nil || gas > 1<<62 {
				emit(failure)
				return
			}
			emit(success)
			emit(out)
		})
	}
	Run("erigon", version, ops)
}

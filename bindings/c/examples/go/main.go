// Signs a hash and recovers the signer's address, using cgo.
package main

// #cgo pkg-config: --static lydite
// #include <lydite.h>
import "C"

import (
	"bytes"
	"fmt"
	"os"
	"unsafe"
)

func pointer(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(b))) }

func check(status C.lydite_status) {
	if status != 0 {
		fmt.Fprintln(os.Stderr, C.GoString(C.lydite_last_error()))
		os.Exit(1)
	}
}

func main() {
	key := bytes.Repeat([]byte{0x46}, 32)
	hash, signature, address, text := make([]byte, 32), make([]byte, 65), make([]byte, 20), make([]byte, 43)
	check(C.lydite_keccak256(pointer([]byte("hello")), 5, pointer(hash)))
	check(C.lydite_sign(pointer(key), pointer(hash), pointer(signature)))
	check(C.lydite_ecrecover(pointer(hash), pointer(signature), pointer(address)))
	check(C.lydite_address_checksum(pointer(address), pointer(text)))
	fmt.Println(string(text[:42]))
}

// Plain loops for arena/tests/plain/check.py: gnark-crypto as its users call it, without the arena's kit.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
	blsfp "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	bn "github.com/consensys/gnark-crypto/ecc/bn254"
)

var sink []byte

func bnMulPlain(item []byte) {
	var p bn.G1Affine
	if p.X.SetBytesCanonical(item[:32]) != nil || p.Y.SetBytesCanonical(item[32:64]) != nil || !p.IsOnCurve() {
		panic("no point")
	}
	p.ScalarMultiplication(&p, new(big.Int).SetBytes(item[64:96]))
	x, y := p.X.Bytes(), p.Y.Bytes()
	sink = append(append(make([]byte, 0, 64), x[:]...), y[:]...)
}

func mapPlain(item []byte) {
	var u blsfp.Element
	if u.SetBytesCanonical(item[16:]) != nil {
		panic("no element")
	}
	p := bls.MapToG1(u)
	x, y := p.X.Bytes(), p.Y.Bytes()
	sink = append(append(make([]byte, 0, 128), x[:]...), y[:]...)
}

func TestPlain(*testing.T) {
	calls := map[string]func([]byte){"precompile_07": bnMulPlain, "precompile_10": mapPlain}
	var call func([]byte)
	var items [][]byte
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		words := strings.Fields(in.Text())
		if words[0] == "prepare" {
			data, err := os.ReadFile(words[2])
			if err != nil {
				panic(err)
			}
			call, items = calls[words[1]], nil
			for len(data) > 0 {
				end := 4 + binary.LittleEndian.Uint32(data)
				items, data = append(items, data[4:end]), data[end:]
			}
			fmt.Println("{}")
			continue
		}
		var n int
		fmt.Sscan(words[1], &n)
		start := time.Now()
		for k := 0; k < n; k++ {
			call(items[k%len(items)])
		}
		fmt.Printf("{\"ns\":%d}\n", time.Since(start).Nanoseconds())
	}
}

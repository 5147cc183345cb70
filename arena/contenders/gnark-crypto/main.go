// gnark-crypto as a contender: the curve precompiles with its newest version and the checks that the EIPs require.
package main

import (
	"errors"
	"math/big"
	"runtime/debug"

	. "arenakit"

	"github.com/consensys/gnark-crypto/ecc"
	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
	blsfp "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	blsfr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bn "github.com/consensys/gnark-crypto/ecc/bn254"
)

var errInput = errors.New("invalid input")

// Two parts: a status byte, then the output.
func precompile(run func([]byte) ([]byte, error)) Op {
	return One(Same, func(input []byte, sum *Sum) {
		out, err := run(input)
		if err != nil {
			sum.Byte(0)
			return
		}
		sum.Byte(1)
		sum.Bytes(out)
	})
}

// EIP-196: coordinates below the prime, on the curve or both zero.
func bnG1(in []byte) (p bn.G1Affine, err error) {
	if err = p.X.SetBytesCanonical(in[:32]); err == nil {
		err = p.Y.SetBytesCanonical(in[32:64])
	}
	if err == nil && !p.IsOnCurve() {
		err = errInput
	}
	return
}

// EIP-197: imaginary part first, in the subgroup.
func bnG2(in []byte) (p bn.G2Affine, err error) {
	for i, part := range []interface{ SetBytesCanonical([]byte) error }{&p.X.A1, &p.X.A0, &p.Y.A1, &p.Y.A0} {
		if err = part.SetBytesCanonical(in[32*i : 32*i+32]); err != nil {
			return
		}
	}
	if !p.IsOnCurve() || !p.IsInSubGroup() {
		err = errInput
	}
	return
}

func bnOut(p *bn.G1Affine) []byte {
	x, y := p.X.Bytes(), p.Y.Bytes()
	return append(append(make([]byte, 0, 64), x[:]...), y[:]...)
}

func bnAdd(in []byte) ([]byte, error) {
	a, err := bnG1(in)
	if err != nil {
		return nil, err
	}
	b, err := bnG1(in[64:])
	if err != nil {
		return nil, err
	}
	a.Add(&a, &b)
	return bnOut(&a), nil
}

func bnMul(in []byte) ([]byte, error) {
	a, err := bnG1(in)
	if err != nil {
		return nil, err
	}
	a.ScalarMultiplication(&a, new(big.Int).SetBytes(in[64:96]))
	return bnOut(&a), nil
}

func word(yes bool) []byte {
	out := make([]byte, 32)
	if yes {
		out[31] = 1
	}
	return out
}

func bnPairing(in []byte) ([]byte, error) {
	var left []bn.G1Affine
	var right []bn.G2Affine
	for ; len(in) > 0; in = in[192:] {
		p, err := bnG1(in)
		if err != nil {
			return nil, err
		}
		q, err := bnG2(in[64:])
		if err != nil {
			return nil, err
		}
		left, right = append(left, p), append(right, q)
	}
	one, err := bn.PairingCheck(left, right)
	return word(one), err
}

// EIP-2537: 64 bytes, of which the first 16 are zero, below the prime.
func blsField(e *blsfp.Element, in []byte) error {
	for _, b := range in[:16] {
		if b != 0 {
			return errInput
		}
	}
	return e.SetBytesCanonical(in[16:64])
}

func blsG1(in []byte, subgroup bool) (p bls.G1Affine, err error) {
	if err = blsField(&p.X, in); err == nil {
		err = blsField(&p.Y, in[64:])
	}
	if err == nil && (!p.IsOnCurve() || subgroup && !p.IsInSubGroup()) {
		err = errInput
	}
	return
}

func blsG2(in []byte, subgroup bool) (p bls.G2Affine, err error) {
	for i, part := range []*blsfp.Element{&p.X.A0, &p.X.A1, &p.Y.A0, &p.Y.A1} {
		if err = blsField(part, in[64*i:]); err != nil {
			return
		}
	}
	if !p.IsOnCurve() || subgroup && !p.IsInSubGroup() {
		err = errInput
	}
	return
}

func blsOut(parts ...*blsfp.Element) []byte {
	out := make([]byte, 64*len(parts))
	for i, part := range parts {
		bytes := part.Bytes()
		copy(out[64*i+16:], bytes[:])
	}
	return out
}

func blsOut1(p *bls.G1Affine) []byte { return blsOut(&p.X, &p.Y) }
func blsOut2(p *bls.G2Affine) []byte { return blsOut(&p.X.A0, &p.X.A1, &p.Y.A0, &p.Y.A1) }

func g1Add(in []byte) ([]byte, error) {
	a, err := blsG1(in, false)
	if err != nil {
		return nil, err
	}
	b, err := blsG1(in[128:], false)
	if err != nil {
		return nil, err
	}
	a.Add(&a, &b)
	return blsOut1(&a), nil
}

func g2Add(in []byte) ([]byte, error) {
	a, err := blsG2(in, false)
	if err != nil {
		return nil, err
	}
	b, err := blsG2(in[256:], false)
	if err != nil {
		return nil, err
	}
	a.Add(&a, &b)
	return blsOut2(&a), nil
}

var oneTask = ecc.MultiExpConfig{NbTasks: 1}

func g1MSM(in []byte) ([]byte, error) {
	n := len(in) / 160
	points, scalars := make([]bls.G1Affine, n), make([]blsfr.Element, n)
	for i := range points {
		p, err := blsG1(in[160*i:], true)
		if err != nil {
			return nil, err
		}
		points[i] = p
		scalars[i].SetBytes(in[160*i+128 : 160*i+160])
	}
	var sum bls.G1Affine
	if n == 1 {
		sum.ScalarMultiplication(&points[0], scalars[0].BigInt(new(big.Int)))
	} else if _, err := sum.MultiExp(points, scalars, oneTask); err != nil {
		return nil, err
	}
	return blsOut1(&sum), nil
}

func g2MSM(in []byte) ([]byte, error) {
	n := len(in) / 288
	points, scalars := make([]bls.G2Affine, n), make([]blsfr.Element, n)
	for i := range points {
		p, err := blsG2(in[288*i:], true)
		if err != nil {
			return nil, err
		}
		points[i] = p
		scalars[i].SetBytes(in[288*i+256 : 288*i+288])
	}
	var sum bls.G2Affine
	if n == 1 {
		sum.ScalarMultiplication(&points[0], scalars[0].BigInt(new(big.Int)))
	} else if _, err := sum.MultiExp(points, scalars, oneTask); err != nil {
		return nil, err
	}
	return blsOut2(&sum), nil
}

func blsPairing(in []byte) ([]byte, error) {
	var left []bls.G1Affine
	var right []bls.G2Affine
	for ; len(in) > 0; in = in[384:] {
		p, err := blsG1(in, true)
		if err != nil {
			return nil, err
		}
		q, err := blsG2(in[128:], true)
		if err != nil {
			return nil, err
		}
		left, right = append(left, p), append(right, q)
	}
	one, err := bls.PairingCheck(left, right)
	return word(one), err
}

func mapG1(in []byte) ([]byte, error) {
	var u blsfp.Element
	if err := blsField(&u, in); err != nil {
		return nil, err
	}
	p := bls.MapToG1(u)
	return blsOut1(&p), nil
}

func mapG2(in []byte) ([]byte, error) {
	var u bls.E2
	if err := blsField(&u.A0, in); err != nil {
		return nil, err
	}
	if err := blsField(&u.A1, in[64:]); err != nil {
		return nil, err
	}
	p := bls.MapToG2(u)
	return blsOut2(&p), nil
}

func main() {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/consensys/gnark-crypto" {
				version = dep.Version
			}
		}
	}
	ops := map[string]Op{}
	for name, run := range map[string]func([]byte) ([]byte, error){
		"06": bnAdd, "07": bnMul, "08": bnPairing,
		"0b": g1Add, "0c": g1MSM, "0d": g2Add, "0e": g2MSM, "0f": blsPairing, "10": mapG1, "11": mapG2,
	} {
		ops["precompile_"+name] = precompile(run)
	}
	Run("gnark-crypto", version, ops)
}

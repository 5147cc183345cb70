// go-ethereum and holiman/uint256 as a contender.
package main

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"runtime/debug"

	. "arenakit"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/crypto/secp256k1"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/holiman/uint256"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func fails[T any](decode func([]byte) (T, error)) func([]byte) bool {
	return func(item []byte) (rejected bool) {
		defer func() { rejected = rejected || recover() != nil }()
		_, err := decode(item)
		return err != nil
	}
}

type keyHash struct{ key, hash []byte }

func keyAndHash(item []byte) keyHash { return keyHash{item[:32], item[32:64]} }

func sign(p keyHash) []byte { return must(secp256k1.Sign(p.hash, p.key)) }

func recoverKey(item []byte) []byte { return must(crypto.Ecrecover(item[:32], item[32:97]))[1:] }

func messages(item []byte) (out [][]byte) {
	r := &Reader{item}
	for n := r.U32(); n > 0; n-- {
		out = append(out, r.Lp())
	}
	return out
}

func each[T any](call func(T) []byte) func([]T, func([]byte)) {
	return func(list []T, emit func([]byte)) {
		for i := range list {
			emit(call(list[i]))
		}
	}
}

func chunksOf(size int) func([]byte) [][]byte {
	return func(item []byte) [][]byte { return Chunks(item, size) }
}

func textsOf(size int) func([]byte) []string {
	return func(item []byte) (out []string) {
		for _, c := range Chunks(item, size) {
			out = append(out, string(c))
		}
		return out
	}
}

func lps(item []byte) [][]byte { return All(item, (*Reader).Lp) }

func le(v *uint256.Int) []byte {
	out := make([]byte, 32)
	for i, limb := range v {
		for j := 0; j < 8; j++ {
			out[8*i+j] = byte(limb >> (8 * j))
		}
	}
	return out
}

func number(little []byte) (v uint256.Int) {
	for i := range v {
		for j := 0; j < 8; j++ {
			v[i] |= uint64(little[8*i+j]) << (8 * j)
		}
	}
	return v
}

// u256 rows write into one result, as Go users of uint256 do.
func u256(per int, call func(z *uint256.Int, a []uint256.Int)) Op {
	return Many(func(item []byte) (out [][]uint256.Int) {
		for _, row := range Chunks(item, 32*per) {
			values := make([]uint256.Int, per)
			for i := range values {
				values[i] = number(row[32*i:])
			}
			out = append(out, values)
		}
		return out
	}, func(rows [][]uint256.Int, emit func([]byte)) {
		var z uint256.Int
		var out [32]byte
		for _, row := range rows {
			call(&z, row)
			for i, limb := range z {
				for j := 0; j < 8; j++ {
					out[8*i+j] = byte(limb >> (8 * j))
				}
			}
			emit(out[:])
		}
	})
}

var (
	n997, n1000 = uint256.NewInt(997), uint256.NewInt(1000)
	address     = must(abi.NewType("address", "", nil))
	uint256Type = must(abi.NewType("uint256", "", nil))
	stringType  = must(abi.NewType("string", "", nil))
	bytesType   = must(abi.NewType("bytes", "", nil))
	numbersType = must(abi.NewType("uint256[]", "", nil))
	static      = abi.Arguments{{Type: address}, {Type: uint256Type}}
	pair        = abi.Arguments{{Type: stringType}, {Type: bytesType}}
	dynamic     = abi.Arguments{{Type: stringType}, {Type: bytesType}, {Type: numbersType}}
	single      = abi.Arguments{{Type: uint256Type}}
	selector    = []byte{0xa9, 0x05, 0x9c, 0xbb}
)

type transferArgs struct {
	to     common.Address
	amount *big.Int
}

func transfers(item []byte) (out []transferArgs) {
	for _, c := range Chunks(item, 52) {
		out = append(out, transferArgs{common.BytesToAddress(c[:20]), new(big.Int).SetBytes(c[20:])})
	}
	return out
}

type dynamicArgs struct {
	text    string
	data    []byte
	numbers []*big.Int
}

func readDynamic(r *Reader) dynamicArgs {
	row := dynamicArgs{text: string(r.Lp()), data: r.Lp()}
	for n := r.U32(); n > 0; n-- {
		row.numbers = append(row.numbers, new(big.Int).SetBytes(r.Take(32)))
	}
	return row
}

func packDynamic(row dynamicArgs) []byte { return must(dynamic.Pack(row.text, row.data, row.numbers)) }

func readTransaction(r *Reader) *types.DynamicFeeTx {
	tx := &types.DynamicFeeTx{ChainID: new(big.Int).SetUint64(r.U64()), Nonce: r.U64(), GasTipCap: r.Little(16), GasFeeCap: r.Little(16), Gas: r.U64()}
	to := common.BytesToAddress(r.Take(20))
	tx.To, tx.Value, tx.Data = &to, new(big.Int).SetBytes(r.Take(32)), r.Lp()
	for n := r.U32(); n > 0; n-- {
		entry := types.AccessTuple{Address: common.BytesToAddress(r.Take(20))}
		for k := r.U32(); k > 0; k-- {
			entry.StorageKeys = append(entry.StorageKeys, common.BytesToHash(r.Take(32)))
		}
		tx.AccessList = append(tx.AccessList, entry)
	}
	return tx
}

// The unsigned fields, in order; geth has no exported encoder of the unsigned list.
type unsigned struct {
	ChainID              *big.Int
	Nonce                uint64
	GasTipCap, GasFeeCap *big.Int
	Gas                  uint64
	To                   *common.Address `rlp:"nil"`
	Value                *big.Int
	Data                 []byte
	AccessList           types.AccessList
}

func readUnsigned(r *Reader) *unsigned {
	t := readTransaction(r)
	return &unsigned{t.ChainID, t.Nonce, t.GasTipCap, t.GasFeeCap, t.Gas, t.To, t.Value, t.Data, t.AccessList}
}

func decodeTransaction(raw []byte) (*types.Transaction, error) {
	tx := new(types.Transaction)
	return tx, tx.UnmarshalBinary(raw)
}

func head(raw []byte) []byte {
	tx := must(decodeTransaction(raw))
	out := make([]byte, 0, 68)
	if to := tx.To(); to != nil {
		out = append(out, to[:]...)
	} else {
		out = append(out, make([]byte, 20)...)
	}
	for _, v := range []uint64{tx.Nonce(), tx.Gas()} {
		for j := 0; j < 8; j++ {
			out = append(out, byte(v>>(8*j)))
		}
	}
	value, _ := uint256.FromBig(tx.Value())
	return append(out, le(value)...)
}

func sender(raw []byte) []byte {
	tx := must(decodeTransaction(raw))
	from := must(types.Sender(types.LatestSignerForChainID(tx.ChainId()), tx))
	hash := tx.Hash()
	return append(hash[:], from[:]...)
}

var typedTypes = apitypes.Types{
	"EIP712Domain": {{Name: "name", Type: "string"}, {Name: "version", Type: "string"}, {Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}},
	"Transfer":     {{Name: "to", Type: "address"}, {Name: "amount", Type: "uint256"}},
}

func readTyped(item []byte) apitypes.TypedData {
	r := &Reader{item}
	name, version, chain := string(r.Lp()), string(r.Lp()), new(big.Int).SetUint64(r.U64())
	contract, to := common.BytesToAddress(r.Take(20)), common.BytesToAddress(r.Take(20))
	return apitypes.TypedData{
		Types: typedTypes, PrimaryType: "Transfer",
		Domain:  apitypes.TypedDataDomain{Name: name, Version: version, ChainId: (*math.HexOrDecimal256)(chain), VerifyingContract: contract.Hex()},
		Message: apitypes.TypedDataMessage{"to": to.Hex(), "amount": (*math.HexOrDecimal256)(new(big.Int).SetBytes(r.Take(32)))},
	}
}

func typedHash(data apitypes.TypedData) []byte {
	hash, _, err := apitypes.TypedDataAndHash(data)
	return must(hash, err)
}

func decodePair(data []byte) ([]any, error) { return pair.Unpack(data) }

func rlpNumber(item []byte) (*uint256.Int, error) {
	value := new(uint256.Int)
	return value, rlp.DecodeBytes(item, value)
}

func variedToo(ops map[string]Op, id string, op Op) {
	ops[id], ops[id+"_varied"] = op, op
}

func main() {
	ops := map[string]Op{}
	hash := One(Same, func(m []byte) []byte { return crypto.Keccak256(m) })
	ops["keccak256_empty"] = hash
	for _, size := range []string{"32b", "256b", "1kb", "4kb"} {
		variedToo(ops, "keccak256_"+size, hash)
	}
	for _, size := range []string{"32b", "256b", "mixed"} {
		ops["keccak256_batch_"+size] = Many(messages, each(func(m []byte) []byte { return crypto.Keccak256(m) }))
	}
	variedToo(ops, "secp256k1_sign", One(keyAndHash, sign))
	variedToo(ops, "secp256k1_sign_recover", One(keyAndHash, func(p keyHash) []byte { return must(crypto.Ecrecover(p.hash, sign(p)))[1:] }))
	variedToo(ops, "secp256k1_recover", One(Same, recoverKey))
	for _, size := range []string{"8", "64", "1024"} {
		ops["secp256k1_recover_batch_"+size] = Many(chunksOf(97), each(func(i []byte) []byte { return crypto.Keccak256(recoverKey(i))[12:] }))
	}
	ops["secp256k1_verify_varied"] = One(func(i []byte) [3][]byte {
		return [3][]byte{i[:32], i[32:96], append([]byte{4}, i[96:160]...)}
	}, func(x [3][]byte) []byte {
		if crypto.VerifySignature(x[2], x[0], x[1]) {
			return []byte{1}
		}
		return []byte{0}
	})
	ops["secp256k1_public_key_varied"] = One(Same, func(key []byte) []byte {
		return crypto.FromECDSAPub(&must(crypto.ToECDSA(key)).PublicKey)[1:]
	})
	variedToo(ops, "address_derivation", One(Same, func(key []byte) []byte { return crypto.Keccak256(key)[12:] }))
	variedToo(ops, "address_from_hex", Many(textsOf(42), each(func(t string) []byte { a := common.HexToAddress(t); return a[:] })))
	variedToo(ops, "checksum_address", One(common.BytesToAddress, func(a common.Address) []byte { return []byte(a.Hex()) }))
	variedToo(ops, "hex_encode_32b", Many(chunksOf(32), each(func(b []byte) []byte { return []byte(hex.EncodeToString(b)) })))
	variedToo(ops, "hex_encode_32b_into", Many(chunksOf(32), func(list [][]byte, emit func([]byte)) {
		var out [64]byte
		for _, b := range list {
			hex.Encode(out[:], b)
			emit(out[:])
		}
	}))
	variedToo(ops, "hex_decode_32b", Many(textsOf(64), each(func(t string) []byte { return must(hex.DecodeString(t)) })))
	variedToo(ops, "hex_decode_32b_into", Many(chunksOf(64), func(list [][]byte, emit func([]byte)) {
		var out [32]byte
		for _, t := range list {
			must(hex.Decode(out[:], t))
			emit(out[:])
		}
	}))
	variedToo(ops, "abi_encode_transfer", Many(transfers, each(func(t transferArgs) []byte {
		return append(append(make([]byte, 0, 68), selector...), must(static.Pack(t.to, t.amount))...)
	})))
	variedToo(ops, "abi_encode_static", Many(transfers, each(func(t transferArgs) []byte { return must(static.Pack(t.to, t.amount)) })))
	variedToo(ops, "abi_encode_dynamic", Many(func(i []byte) []dynamicArgs { return All(i, readDynamic) }, each(packDynamic)))
	ops["abi_encode_runtime_varied"] = One(func(i []byte) dynamicArgs { return readDynamic(&Reader{i}) }, packDynamic)
	variedToo(ops, "abi_decode_uint256", Many(chunksOf(32), each(func(w []byte) []byte {
		value, _ := uint256.FromBig(must(single.Unpack(w))[0].(*big.Int))
		return le(value)
	})))
	variedToo(ops, "abi_decode_dynamic", Many(lps, func(list [][]byte, emit func([]byte)) {
		for _, data := range list {
			values := must(decodePair(data))
			emit([]byte(values[0].(string)))
			emit(values[1].([]byte))
		}
	}))
	ops["abi_decode_runtime_varied"] = Many(Same, func(data []byte, emit func([]byte)) {
		values := must(dynamic.Unpack(data))
		emit([]byte(values[0].(string)))
		emit(values[1].([]byte))
		for _, n := range values[2].([]*big.Int) {
			value, _ := uint256.FromBig(n)
			emit(le(value))
		}
	})
	variedToo(ops, "rlp_encode_eip1559_tx", Many(func(i []byte) []*unsigned { return All(i, readUnsigned) }, each(func(t *unsigned) []byte { return must(rlp.EncodeToBytes(t)) })))
	variedToo(ops, "rlp_decode_u256", Many(lps, each(func(i []byte) []byte { return le(must(rlpNumber(i))) })))
	variedToo(ops, "u256_add", u256(2, func(z *uint256.Int, a []uint256.Int) { z.Add(&a[0], &a[1]) }))
	variedToo(ops, "u256_mul", u256(2, func(z *uint256.Int, a []uint256.Int) { z.Mul(&a[0], &a[1]) }))
	variedToo(ops, "u256_div", u256(2, func(z *uint256.Int, a []uint256.Int) { z.Div(&a[0], &a[1]) }))
	variedToo(ops, "u256_uniswapv2_amount_out", u256(3, func(z *uint256.Int, a []uint256.Int) {
		var fee, numerator, denominator uint256.Int
		fee.Mul(&a[0], n997)
		numerator.Mul(&fee, &a[2])
		denominator.Mul(&a[1], n1000)
		denominator.Add(&denominator, &fee)
		z.Div(&numerator, &denominator)
	}))
	mulDiv := u256(3, func(z *uint256.Int, a []uint256.Int) { z.MulDivOverflow(&a[0], &a[1], &a[2]) })
	variedToo(ops, "u256_mulDiv", mulDiv)
	variedToo(ops, "u256_mulDiv_hard512", mulDiv)
	ops["u256_mulDiv_zig_input"] = mulDiv
	swap := u256(3, func(z *uint256.Int, a []uint256.Int) {
		var d uint256.Int
		d.Mul(&a[2], &a[1])
		d.Add(&d, &a[0])
		z.MulDivOverflow(&a[0], &a[1], &d)
	})
	variedToo(ops, "u256_uniswapv4_swap", swap)
	ops["u256_uniswapv4_swap_zig_input"] = swap
	variedToo(ops, "tx_hash_eip1559", One(func(i []byte) *types.Transaction {
		return types.NewTx(readTransaction(&Reader{i}))
	}, func(tx *types.Transaction) []byte {
		hash := types.LatestSignerForChainID(tx.ChainId()).Hash(tx)
		return hash[:]
	}))
	ops["tx_decode_blocks"] = One(Same, head)
	ops["tx_hash_blocks"] = One(Same, func(raw []byte) []byte { hash := must(decodeTransaction(raw)).Hash(); return hash[:] })
	ops["tx_sender_blocks"] = One(Same, sender)
	variedToo(ops, "eip712_hash_typed_data", One(readTyped, typedHash))
	variedToo(ops, "eip712_hash_typed_data_json", One(Same, func(text []byte) []byte {
		var data apitypes.TypedData
		if err := json.Unmarshal(text, &data); err != nil {
			panic(err)
		}
		return typedHash(data)
	}))
	ops["neg:hex_decode_32b"] = Neg(fails(func(i []byte) ([]byte, error) { return hex.DecodeString(string(i)) }))
	ops["neg:address_from_hex"] = Neg(fails(func(i []byte) (*common.MixedcaseAddress, error) {
		return common.NewMixedcaseAddressFromString(string(i))
	}))
	ops["neg:abi_decode_dynamic"] = Neg(fails(decodePair))
	ops["neg:rlp_decode_u256"] = Neg(fails(rlpNumber))
	ops["neg:tx_decode_blocks"] = Neg(fails(decodeTransaction))
	ops["neg:secp256k1_recover"] = Neg(fails(func(i []byte) ([]byte, error) { return crypto.Ecrecover(i[:32], i[32:97]) }))

	precompiles(ops)

	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/ethereum/go-ethereum" {
				version = dep.Version
			}
		}
	}
	Run("go-ethereum", version, ops)
}

// go-ethereum and holiman/uint256 as a contender.
package main

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"runtime/debug"
	"slices"

	. "arenakit"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	hexmath "github.com/ethereum/go-ethereum/common/math"
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

func chunksOf(size int) func([]byte) [][]byte {
	return func(item []byte) [][]byte { return Chunks(item, size) }
}

func lps(item []byte) [][]byte { return All(item, (*Reader).Lp) }

func number(little []byte) (v uint256.Int) {
	for i := range v {
		v[i] = binary.LittleEndian.Uint64(little[8*i:])
	}
	return v
}

// addBig adds a big.Int as a u256.
func addBig(sum *Sum, n *big.Int) {
	value, _ := uint256.FromBig(n)
	sum.U256((*[4]uint64)(value))
}

// Operands of the rows with two and three numbers.
type (
	two   [2]uint256.Int
	three [3]uint256.Int
)

func operands(item []byte, row []uint256.Int) {
	for i := range row {
		row[i] = number(item[32*i:])
	}
}

// Each u256 row has a separate loop without calls through a pointer and writes to one result, as Go users of uint256
// do.
func pairs(call func([]two, *Sum)) Op {
	return Array(func(item []byte) []two {
		rows := make([]two, len(item)/64)
		for i := range rows {
			operands(item[64*i:], rows[i][:])
		}
		return rows
	}, call).ChangesAll("le@4", func(rows []two, x uint32) {
		for i := range rows {
			setHigh(&rows[i][0][0], Word(x, i))
		}
	})
}

func triples(call func([]three, *Sum)) Op {
	return Array(func(item []byte) []three {
		rows := make([]three, len(item)/96)
		for i := range rows {
			operands(item[96*i:], rows[i][:])
		}
		return rows
	}, call).ChangesAll("le@4", func(rows []three, x uint32) {
		for i := range rows {
			setHigh(&rows[i][0][0], Word(x, i))
		}
	})
}

// setHigh replaces bits 32 to 63.
func setHigh(limb *uint64, word uint32) { *limb = *limb&math.MaxUint32 | uint64(word)<<32 }

// setLowBig replaces the lowest 32 bits of n in place.
func setLowBig(n *big.Int, word uint32) {
	words := n.Bits()
	if len(words) == 0 {
		n.SetUint64(uint64(word))
		return
	}
	words[0] = words[0]&^math.MaxUint32 | big.Word(word)
	n.SetBits(words)
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

func amount(t *transferArgs, word uint32) { setLowBig(t.amount, word) }

func transfers(item []byte) (out []transferArgs) {
	for _, c := range Chunks(item, 52) {
		out = append(out, transferArgs{common.BytesToAddress(c[:20]), new(big.Int).SetBytes(c[20:])})
	}
	return out
}

type dynamicArgs struct {
	text    []byte
	data    []byte
	numbers []*big.Int
}

func readDynamic(r *Reader) dynamicArgs {
	row := dynamicArgs{text: r.Lp(), data: r.Lp()}
	for n := r.U32(); n > 0; n-- {
		row.numbers = append(row.numbers, new(big.Int).SetBytes(r.Take(32)))
	}
	return row
}

// textOf replaces the first eight characters of the string.
func textOf(row *dynamicArgs, word uint32) { Digits(row.text, word) }

func packDynamic(row dynamicArgs) []byte {
	return must(dynamic.Pack(Text(row.text), row.data, row.numbers))
}

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

// envelope is a transaction and the location of its recipient, because types.Transaction only returns copies of it.
type envelope struct {
	*types.Transaction
	to *common.Address
}

func newEnvelope(fields *types.DynamicFeeTx) envelope {
	tx := types.NewTx(fields)
	inner := reflect.ValueOf(tx).Elem().FieldByName("inner").Elem()
	return envelope{tx, (*types.DynamicFeeTx)(inner.UnsafePointer()).To}
}

// The unsigned fields in order; geth exports no encoder of the unsigned list.
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

func head(raw []byte, sum *Sum) {
	tx := must(decodeTransaction(raw))
	var out [68]byte
	if to := tx.To(); to != nil {
		copy(out[:], to[:])
	}
	binary.LittleEndian.PutUint64(out[20:], tx.Nonce())
	binary.LittleEndian.PutUint64(out[28:], tx.Gas())
	tx.Value().FillBytes(out[36:])
	slices.Reverse(out[36:])
	sum.Bytes(out[:])
}

func transactionAndSender(raw []byte) (*types.Transaction, common.Address) {
	tx := must(decodeTransaction(raw))
	var signer types.Signer = types.HomesteadSigner{}
	if tx.Protected() {
		signer = types.LatestSignerForChainID(tx.ChainId())
	}
	return tx, must(types.Sender(signer, tx))
}

func sender(raw []byte, sum *Sum) {
	tx, from := transactionAndSender(raw)
	hash := tx.Hash()
	sum.Bytes(append(hash[:], from[:]...))
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
		Domain:  apitypes.TypedDataDomain{Name: name, Version: version, ChainId: (*hexmath.HexOrDecimal256)(chain), VerifyingContract: contract.Hex()},
		Message: apitypes.TypedDataMessage{"to": to.Hex(), "amount": (*hexmath.HexOrDecimal256)(new(big.Int).SetBytes(r.Take(32)))},
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

func main() {
	ops := map[string]Op{}
	ops["keccak256"] = One(Same, func(m []byte, sum *Sum) { sum.Bytes(crypto.Keccak256(m)) })
	ops["keccak256_batch"] = Each(messages, func(m []byte) []byte { return crypto.Keccak256(m) })
	ops["secp256k1_sign"] = One(keyAndHash, func(p keyHash, sum *Sum) { sum.Bytes(sign(p)) }).Borrows()
	ops["secp256k1_sign_recover"] = One(keyAndHash, func(p keyHash, sum *Sum) { sum.Bytes(must(crypto.Ecrecover(p.hash, sign(p)))[1:]) }).Borrows()
	ops["secp256k1_recover"] = One(Same, func(i []byte, sum *Sum) { sum.Bytes(recoverKey(i)) })
	ops["secp256k1_recover_batch"] = Each(chunksOf(97), func(i []byte) []byte { return crypto.Keccak256(recoverKey(i))[12:] })
	ops["secp256k1_verify"] = One(func(i []byte) [3][]byte {
		return [3][]byte{i[:32], i[32:96], append([]byte{4}, i[96:160]...)}
	}, func(x [3][]byte, sum *Sum) {
		if crypto.VerifySignature(x[2], x[0], x[1]) {
			sum.Byte(1)
		} else {
			sum.Byte(0)
		}
	})
	ops["secp256k1_public_key"] = One(Same, func(key []byte, sum *Sum) {
		sum.Bytes(crypto.FromECDSAPub(&must(crypto.ToECDSA(key)).PublicKey)[1:])
	})
	ops["address_derivation"] = One(Same, func(key []byte, sum *Sum) { sum.Bytes(crypto.Keccak256(key)[12:]) })
	ops["address_from_hex"] = Array(chunksOf(42), func(list [][]byte, sum *Sum) {
		for _, t := range list {
			a := common.HexToAddress(Text(t))
			sum.Bytes(a[:])
		}
	})
	ops["checksum_address"] = One(Same, func(a []byte, sum *Sum) { sum.Text(common.Address(a).Hex()) })
	ops["hex_encode_32b"] = Array(chunksOf(32), func(list [][]byte, sum *Sum) {
		for _, b := range list {
			sum.Text(hex.EncodeToString(b))
		}
	})
	ops["hex_encode_32b_into"] = Array(chunksOf(32), func(list [][]byte, sum *Sum) {
		var out [64]byte
		for _, b := range list {
			hex.Encode(out[:], b)
			sum.Bytes(out[:])
		}
	})
	ops["hex_decode_32b"] = Each(chunksOf(64), func(t []byte) []byte { return must(hex.DecodeString(Text(t))) })
	ops["hex_decode_32b_into"] = Array(chunksOf(64), func(list [][]byte, sum *Sum) {
		var out [32]byte
		for _, t := range list {
			must(hex.Decode(out[:], t))
			sum.Bytes(out[:])
		}
	})
	ops["abi_encode_transfer"] = Each(transfers, func(t transferArgs) []byte {
		return append(append(make([]byte, 0, 68), selector...), must(static.Pack(t.to, t.amount))...)
	}).Changes("be@-4", amount)
	ops["abi_encode_static"] = Each(transfers, func(t transferArgs) []byte { return must(static.Pack(t.to, t.amount)) }).Changes("be@-4", amount)
	ops["abi_encode_dynamic"] = Each(func(i []byte) []dynamicArgs { return All(i, readDynamic) }, packDynamic).Changes("digits@4", textOf)
	ops["abi_encode_runtime"] = One(func(i []byte) dynamicArgs { return readDynamic(&Reader{i}) }, func(row dynamicArgs, sum *Sum) { sum.Bytes(packDynamic(row)) }).Changes("digits@4", textOf)
	ops["abi_decode_uint256"] = Array(chunksOf(32), func(words [][]byte, sum *Sum) {
		for _, w := range words {
			addBig(sum, must(single.Unpack(w))[0].(*big.Int))
		}
	})
	ops["abi_decode_dynamic"] = Array(lps, func(list [][]byte, sum *Sum) {
		for _, data := range list {
			values := must(decodePair(data))
			sum.Text(values[0].(string))
			sum.Bytes(values[1].([]byte))
		}
	})
	ops["abi_decode_runtime"] = One(Same, func(data []byte, sum *Sum) {
		values := must(dynamic.Unpack(data))
		sum.Text(values[0].(string))
		sum.Bytes(values[1].([]byte))
		for _, n := range values[2].([]*big.Int) {
			addBig(sum, n)
		}
	})
	ops["rlp_encode_eip1559_tx"] = Each(func(i []byte) []*unsigned {
		return All(i, readUnsigned)
	}, func(t *unsigned) []byte { return must(rlp.EncodeToBytes(t)) }).Changes("le@56", func(t **unsigned, word uint32) { binary.LittleEndian.PutUint32((*t).To[:], word) })
	ops["rlp_decode_u256"] = Array(lps, func(list [][]byte, sum *Sum) {
		var value uint256.Int
		for _, item := range list {
			if err := rlp.DecodeBytes(item, &value); err != nil {
				panic(err)
			}
			sum.U256((*[4]uint64)(&value))
		}
	})
	ops["u256_add"] = pairs(func(rows []two, sum *Sum) {
		var z uint256.Int
		var total uint64
		for i := range rows {
			z.Add(&rows[i][0], &rows[i][1])
			sum.Keep((*[4]uint64)(&z))
			total += z[0] + z[1] + z[2] + z[3]
		}
		sum.Add(total)
	})
	ops["u256_mul"] = pairs(func(rows []two, sum *Sum) {
		var z uint256.Int
		var total uint64
		for i := range rows {
			z.Mul(&rows[i][0], &rows[i][1])
			sum.Keep((*[4]uint64)(&z))
			total += z[0] + z[1] + z[2] + z[3]
		}
		sum.Add(total)
	})
	ops["u256_div"] = pairs(func(rows []two, sum *Sum) {
		var z uint256.Int
		var total uint64
		for i := range rows {
			z.Div(&rows[i][0], &rows[i][1])
			sum.Keep((*[4]uint64)(&z))
			total += z[0] + z[1] + z[2] + z[3]
		}
		sum.Add(total)
	})
	ops["u256_uniswapv2_amount_out"] = triples(func(rows []three, sum *Sum) {
		var fee, numerator, denominator, z uint256.Int
		var total uint64
		for i := range rows {
			in, reserveIn, reserveOut := &rows[i][0], &rows[i][1], &rows[i][2]
			fee.Mul(in, n997)
			numerator.Mul(&fee, reserveOut)
			denominator.Mul(reserveIn, n1000)
			denominator.Add(&denominator, &fee)
			z.Div(&numerator, &denominator)
			sum.Keep((*[4]uint64)(&z))
			total += z[0] + z[1] + z[2] + z[3]
		}
		sum.Add(total)
	})
	mulDiv := triples(func(rows []three, sum *Sum) {
		var z uint256.Int
		var total uint64
		for i := range rows {
			z.MulDivOverflow(&rows[i][0], &rows[i][1], &rows[i][2])
			sum.Keep((*[4]uint64)(&z))
			total += z[0] + z[1] + z[2] + z[3]
		}
		sum.Add(total)
	})
	ops["u256_mulDiv"] = mulDiv
	swap := triples(func(rows []three, sum *Sum) {
		var d, z uint256.Int
		var total uint64
		for i := range rows {
			liquidity, price, amount := &rows[i][0], &rows[i][1], &rows[i][2]
			d.Mul(amount, price)
			d.Add(&d, liquidity)
			z.MulDivOverflow(liquidity, price, &d)
			sum.Keep((*[4]uint64)(&z))
			total += z[0] + z[1] + z[2] + z[3]
		}
		sum.Add(total)
	})
	ops["u256_uniswapv4_swap"] = swap
	ops["tx_hash_eip1559"] = One(func(i []byte) envelope {
		return newEnvelope(readTransaction(&Reader{i}))
	}, func(t envelope, sum *Sum) {
		hash := types.LatestSignerForChainID(t.ChainId()).Hash(t.Transaction)
		sum.Bytes(hash[:])
	}).Changes("le@56", func(t *envelope, word uint32) { binary.LittleEndian.PutUint32(t.to[:], word) })
	ops["tx_decode"] = One(Same, head)
	ops["tx_hash"] = One(Same, func(raw []byte, sum *Sum) {
		hash := must(decodeTransaction(raw)).Hash()
		sum.Bytes(hash[:])
	})
	ops["tx_sender"] = One(Same, sender)
	ops["eip712_hash_typed_data"] = One(readTyped, func(data apitypes.TypedData, sum *Sum) { sum.Bytes(typedHash(data)) }).Changes("be@-4", func(data *apitypes.TypedData, word uint32) {
		setLowBig((*big.Int)(data.Message["amount"].(*hexmath.HexOrDecimal256)), word)
	})
	ops["eip712_hash_typed_data_json"] = One(Same, func(text []byte, sum *Sum) {
		var data apitypes.TypedData
		if err := json.Unmarshal(text, &data); err != nil {
			panic(err)
		}
		sum.Bytes(typedHash(data))
	})
	ops["neg:hex_decode_32b"] = Neg(fails(func(i []byte) ([]byte, error) { return hex.DecodeString(string(i)) }))
	ops["neg:address_from_hex"] = Neg(fails(func(i []byte) (*common.MixedcaseAddress, error) {
		return common.NewMixedcaseAddressFromString(string(i))
	}))
	ops["neg:abi_decode_dynamic"] = Neg(fails(decodePair))
	ops["neg:rlp_decode_u256"] = Neg(fails(rlpNumber))
	ops["neg:tx_decode"] = Neg(fails(decodeTransaction))
	ops["neg:secp256k1_recover"] = Neg(fails(func(i []byte) ([]byte, error) { return crypto.Ecrecover(i[:32], i[32:97]) }))

	precompiles(ops)
	block(ops)

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

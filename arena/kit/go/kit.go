// Package arenakit speaks the arena's line protocol for contenders in Go.
//
// A contender fills a map from op ids to Op, created with One, Array or Neg, and calls Run. The parse function is
// untimed and returns the contender's own types; the call function is timed and passes its outputs to a Sum.
package arenakit

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// Op is an operation that a contender offers.
type Op interface {
	// prepare parses the items. applies reports whether the batch applies the rule.
	prepare(raw [][]byte, rule string) (b batch, applies bool)
}

type batch interface {
	items() int
	// output makes one call on item i and returns the bytes it wrote.
	output(i int) []byte
	run(n int, seed uint32) (time.Duration, uint64)
}

// Kernel is an operation on elements of type E.
type Kernel[E any] struct {
	parse   func([]byte) []E
	one     func(E, *Sum)
	all     func([]E, *Sum)
	borrows bool
	changes map[string]func([]E, uint32)
}

// One is an operation whose item is one element.
func One[E any](parse func([]byte) E, call func(E, *Sum)) *Kernel[E] {
	return &Kernel[E]{parse: func(item []byte) []E { return []E{parse(item)} }, one: call}
}

// Array is an operation whose item is an array of elements.
func Array[E any](parse func([]byte) []E, call func([]E, *Sum)) *Kernel[E] {
	return &Kernel[E]{parse: parse, all: call}
}

// Each is an operation whose item is an array of elements, with one output per element.
func Each[E any](parse func([]byte) []E, call func(E) []byte) *Kernel[E] {
	return Array(parse, func(list []E, sum *Sum) {
		for i := range list {
			sum.Bytes(call(list[i]))
		}
	})
}

// Borrows marks a kernel of One whose parsed values refer to the bytes of the item and copy none of the bytes that
// change rules address, so that the kit can change the item itself.
func (k *Kernel[E]) Borrows() *Kernel[E] {
	k.borrows = true
	return k
}

// Changes supplies the change of a parsed element for the rule of the row. Elements that are byte slices need none.
func (k *Kernel[E]) Changes(rule string, change func(element *E, word uint32)) *Kernel[E] {
	return k.ChangesAll(rule, func(list []E, x uint32) {
		for i := range list {
			change(&list[i], Word(x, i))
		}
	})
}

// ChangesAll is Changes with the loop over the elements, each of which gets Word(x, index).
func (k *Kernel[E]) ChangesAll(rule string, change func(list []E, x uint32)) *Kernel[E] {
	if k.changes == nil {
		k.changes = map[string]func([]E, uint32){}
	}
	k.changes[rule] = change
	return k
}

// Word is the word of element i if that of the first is x.
func Word(x uint32, i int) uint32 { return x + uint32(i)*0x9E3779B9 }

// Neg is a negative row: rejects reports whether the library rejects the input.
func Neg(rejects func([]byte) bool) Op {
	return One(Same, func(item []byte, sum *Sum) {
		if rejects(item) {
			sum.Byte(1)
		} else {
			sum.Byte(0)
		}
	})
}

func (k *Kernel[E]) prepare(raw [][]byte, rule string) (batch, bool) {
	b := &prepared[E]{raw: raw, one: k.one, all: k.all, change: k.changes[rule]}
	for _, item := range raw {
		b.list = append(b.list, k.parse(item))
	}
	if rule == "none" || b.change != nil {
		return b, true
	}
	write := writer(rule)
	if k.borrows {
		b.changeRaw = write
	} else if slices, ok := any(b).(*prepared[[]byte]); ok {
		slices.change = func(list [][]byte, x uint32) {
			for i := range list {
				write(list[i], Word(x, i))
			}
		}
	} else {
		return b, false
	}
	return b, true
}

// writer parses a change rule, <kind>@<offset>, and returns the function that applies it to the bytes of an element.
func writer(rule string) func([]byte, uint32) {
	kind, digits, _ := strings.Cut(rule, "@")
	offset, err := strconv.Atoi(digits)
	if err != nil {
		panic(fmt.Sprintf("change rule %q: expected none or <kind>@<offset>", rule))
	}
	// window returns the size bytes to change, or nil if the element is too short.
	window := func(data []byte, size int) []byte {
		at := offset
		if at < 0 {
			at += len(data)
		}
		if at < 0 || at+size > len(data) {
			return nil
		}
		return data[at : at+size]
	}
	switch kind {
	case "le":
		return func(data []byte, word uint32) {
			if at := window(data, 4); at != nil {
				binary.LittleEndian.PutUint32(at, word)
			}
		}
	case "be":
		return func(data []byte, word uint32) {
			if at := window(data, 4); at != nil {
				binary.BigEndian.PutUint32(at, word)
			}
		}
	case "le16":
		return func(data []byte, word uint32) {
			if at := window(data, 2); at != nil {
				binary.LittleEndian.PutUint16(at, uint16(word>>16))
			}
		}
	case "digits":
		return func(data []byte, word uint32) {
			if at := window(data, 8); at != nil {
				Digits(at, word)
			}
		}
	}
	panic(fmt.Sprintf("change rule %q: expected the kind le, be, le16 or digits", rule))
}

// Digits writes a word as 8 octal digits, lowest first.
func Digits(out []byte, word uint32) {
	for j := range out[:8] {
		out[j] = '0' + byte(word>>(3*j)&7)
	}
}

type prepared[E any] struct {
	raw       [][]byte
	list      [][]E
	one       func(E, *Sum)
	all       func([]E, *Sum)
	change    func([]E, uint32)
	changeRaw func([]byte, uint32)
}

func (b *prepared[E]) items() int { return len(b.list) }

func (b *prepared[E]) output(i int) []byte {
	sum := Sum{written: new(bytes.Buffer)}
	if b.one != nil {
		b.one(b.list[i][0], &sum)
	} else {
		b.all(b.list[i], &sum)
	}
	return sum.written.Bytes()
}

func (b *prepared[E]) run(n int, x uint32) (time.Duration, uint64) {
	sum := new(Sum)
	count := len(b.list)
	start := time.Now()
	for k, at := 0, 0; k < n; k++ {
		x = x*747796405 + 2891336453
		list := b.list[at]
		if b.change != nil {
			b.change(list, x)
		} else if b.changeRaw != nil {
			b.changeRaw(b.raw[at], x)
		}
		if b.one != nil {
			b.one(list[0], sum)
		} else {
			b.all(list, sum)
		}
		if at++; at == count {
			at = 0
		}
	}
	return time.Since(start), sum.total
}

// Sum adds up the words of outputs, or collects the outputs for `verify`.
type Sum struct {
	total   uint64
	written *bytes.Buffer
}

// Bytes adds the little-endian u64 words of an output, zero-padded to a multiple of 8.
func (s *Sum) Bytes(data []byte) {
	if s.written != nil {
		s.written.Write(data)
	}
	var total uint64
	for len(data) >= 32 {
		total += binary.LittleEndian.Uint64(data) + binary.LittleEndian.Uint64(data[8:]) +
			binary.LittleEndian.Uint64(data[16:]) + binary.LittleEndian.Uint64(data[24:])
		data = data[32:]
	}
	for len(data) >= 8 {
		total += binary.LittleEndian.Uint64(data)
		data = data[8:]
	}
	for i, b := range data {
		total += uint64(b) << (8 * i)
	}
	s.total += total
}

// Text adds a text output.
func (s *Sum) Text(text string) { s.Bytes(unsafe.Slice(unsafe.StringData(text), len(text))) }

// Byte adds an output of one byte.
func (s *Sum) Byte(b byte) {
	if s.written != nil {
		s.written.WriteByte(b)
	}
	s.total += uint64(b)
}

// U64 adds an output of 8 bytes, little-endian.
func (s *Sum) U64(word uint64) {
	if s.written != nil {
		binary.Write(s.written, binary.LittleEndian, word)
	}
	s.total += word
}

// U256 adds an output of 32 bytes, little-endian, given as its limbs.
func (s *Sum) U256(limbs *[4]uint64) {
	if s.written != nil {
		s.keep(limbs)
	}
	s.total += limbs[0] + limbs[1] + limbs[2] + limbs[3]
}

// Keep is U256 without the addition, for loops that sum in a variable and pass the total to Add.
func (s *Sum) Keep(limbs *[4]uint64) {
	if s.written != nil {
		s.keep(limbs)
	}
}

// Add adds a total of words.
func (s *Sum) Add(total uint64) { s.total += total }

//go:noinline
func (s *Sum) keep(limbs *[4]uint64) {
	for _, limb := range limbs {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], limb)
		s.written.Write(word[:])
	}
}

// Text returns the bytes of an element as a string without copying them.
func Text(element []byte) string { return unsafe.String(unsafe.SliceData(element), len(element)) }

// Same keeps an item as it is.
func Same(item []byte) []byte { return item }

// Chunks cuts data into pieces of size bytes.
func Chunks(data []byte, size int) (out [][]byte) {
	for ; len(data) >= size; data = data[size:] {
		out = append(out, data[:size:size])
	}
	return out
}

// Reader is a cursor over the fields of an item.
type Reader struct{ Data []byte }

// Take returns the next n bytes.
func (r *Reader) Take(n int) []byte {
	out := r.Data[:n:n]
	r.Data = r.Data[n:]
	return out
}

// U32 returns a little-endian u32.
func (r *Reader) U32() int { return int(binary.LittleEndian.Uint32(r.Take(4))) }

// U64 returns a little-endian u64.
func (r *Reader) U64() uint64 { return binary.LittleEndian.Uint64(r.Take(8)) }

// Lp returns a length-prefixed field.
func (r *Reader) Lp() []byte { return r.Take(r.U32()) }

// Little returns an n-byte little-endian integer.
func (r *Reader) Little(n int) *big.Int {
	bytes := append([]byte(nil), r.Take(n)...)
	for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
		bytes[i], bytes[j] = bytes[j], bytes[i]
	}
	return new(big.Int).SetBytes(bytes)
}

// All reads elements until the item is used up.
func All[T any](item []byte, read func(*Reader) T) (out []T) {
	for r := (&Reader{item}); len(r.Data) > 0; {
		out = append(out, read(r))
	}
	return out
}

// Run serves the driver's requests until quit or the end of input.
func Run(name, version string, ops map[string]Op) {
	var now session
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		if len(words) == 0 {
			continue
		}
		if words[0] == "quit" {
			return
		}
		reply := func() (reply map[string]any) {
			defer func() {
				if e := recover(); e != nil {
					reply = map[string]any{"err": "rejected", "msg": fmt.Sprint(e)}
				}
			}()
			return now.answer(name, version, ops, words)
		}()
		reply["arena"] = 1
		line, _ := json.Marshal(reply)
		os.Stdout.Write(append(line, '\n'))
	}
}

// session holds the operation and items prepared last.
type session struct {
	op    Op
	data  []byte
	batch batch
}

// parse parses a copy of the items in the file, because batches change them.
func (now *session) parse(rule string) (applies bool) {
	now.batch, applies = now.op.prepare(All(bytes.Clone(now.data), (*Reader).Lp), rule)
	return applies
}

func (now *session) answer(name, version string, ops map[string]Op, words []string) map[string]any {
	arg := func(i int, absent string) string {
		if i < len(words) {
			return words[i]
		}
		return absent
	}
	n, _ := strconv.Atoi(arg(1, ""))
	run := func() (time.Duration, uint64) {
		seed, err := strconv.ParseUint(arg(2, "0"), 10, 32)
		if err != nil {
			panic(err)
		}
		return now.batch.run(n, uint32(seed))
	}
	switch words[0] {
	case "describe":
		ids := []string{}
		for id := range ops {
			ids = append(ids, id)
		}
		return map[string]any{"name": name, "version": version, "runtime": runtime.Version(), "ops": ids, "threads": runtime.GOMAXPROCS(0)}
	case "prepare":
		op, known := ops[arg(1, "")]
		if !known {
			return map[string]any{"err": "unsupported", "msg": arg(1, "")}
		}
		data, err := os.ReadFile(arg(2, ""))
		if err != nil {
			panic(err)
		}
		now.op, now.data = op, data
		applies := now.parse(arg(3, "none"))
		return map[string]any{"ok": true, "items": now.batch.items(), "changes": applies}
	case "verify":
		rule := now.batch
		defer func() { now.batch = rule }()
		now.parse("none")
		var out []byte
		for i := range now.batch.items() {
			blob := now.batch.output(i)
			out = binary.LittleEndian.AppendUint32(out, uint32(len(blob)))
			out = append(out, blob...)
		}
		if err := os.WriteFile(arg(1, ""), out, 0o600); err != nil {
			panic(err)
		}
		return map[string]any{"ok": true}
	case "run":
		took, acc := run()
		return map[string]any{"n": n, "ns": took.Nanoseconds(), "acc": fmt.Sprintf("%016x", acc)}
	case "alloc":
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		return map[string]any{
			"n": n, "alloc_bytes": after.TotalAlloc - before.TotalAlloc,
			"allocs": after.Mallocs - before.Mallocs, "gc": after.NumGC - before.NumGC,
		}
	case "noop":
		start := time.Now()
		for k := 0; k < n; k++ {
			noop()
		}
		return map[string]any{"n": n, "ns": time.Since(start).Nanoseconds()}
	case "gc":
		runtime.GC()
		return map[string]any{"ok": true}
	}
	return map[string]any{"err": "unsupported", "msg": words[0]}
}

//go:noinline
func noop() {}

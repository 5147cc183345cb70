// Package arenakit speaks the arena's line protocol for contenders in Go.
//
// A contender fills a map from op ids to Op, made by One, Many or Neg, and calls Run. The parse function is untimed
// and returns the contender's own types; the call function is timed.
package arenakit

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Batch is one prepared operation: it runs call k on item k mod items.
type Batch interface {
	items() int
	outputs(i int) [][]byte
	run(n int) (time.Duration, uint64)
}

// Op prepares a batch from the raw items.
type Op func(raw [][]byte) Batch

type one[T any] struct {
	list []T
	call func(T) []byte
}

type many[T any] struct {
	list []T
	call func(T, func([]byte))
}

// One is an operation with one output a call.
func One[T any](parse func([]byte) T, call func(T) []byte) Op {
	return func(raw [][]byte) Batch { return &one[T]{parseAll(raw, parse), call} }
}

// Many is an array operation: call hands each element's output to the function it is given.
func Many[T any](parse func([]byte) T, call func(T, func([]byte))) Op {
	return func(raw [][]byte) Batch { return &many[T]{parseAll(raw, parse), call} }
}

// Neg is a negative row: rejects says whether the library refuses the input.
func Neg(rejects func([]byte) bool) Op {
	return One(Same, func(item []byte) []byte {
		if rejects(item) {
			return []byte{1}
		}
		return []byte{0}
	})
}

func parseAll[T any](raw [][]byte, parse func([]byte) T) []T {
	list := make([]T, len(raw))
	for i, item := range raw {
		list[i] = parse(item)
	}
	return list
}

func (b *one[T]) items() int             { return len(b.list) }
func (b *one[T]) outputs(i int) [][]byte { return [][]byte{b.call(b.list[i])} }
func (b *one[T]) run(n int) (time.Duration, uint64) {
	var acc uint64
	count := len(b.list)
	start := time.Now()
	for k, at := 0, 0; k < n; k++ {
		acc += Words(b.call(b.list[at]))
		if at++; at == count {
			at = 0
		}
	}
	return time.Since(start), acc
}

func (b *many[T]) items() int { return len(b.list) }
func (b *many[T]) outputs(i int) (out [][]byte) {
	b.call(b.list[i], func(part []byte) { out = append(out, append([]byte(nil), part...)) })
	return out
}
func (b *many[T]) run(n int) (time.Duration, uint64) {
	var acc uint64
	count := len(b.list)
	emit := func(part []byte) { acc += Words(part) }
	start := time.Now()
	for k := 0; k < n; k++ {
		b.call(b.list[k%count], emit)
	}
	return time.Since(start), acc
}

// Words sums the little-endian u64 words of data, zero-padded to a multiple of 8.
func Words(data []byte) (sum uint64) {
	for len(data) >= 8 {
		sum += binary.LittleEndian.Uint64(data)
		data = data[8:]
	}
	for i, b := range data {
		sum += uint64(b) << (8 * i)
	}
	return sum
}

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

// Run answers the driver until quit or the end of input.
func Run(name, version string, ops map[string]Op) {
	var batch Batch
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
			return answer(name, version, ops, &batch, words)
		}()
		reply["arena"] = 1
		line, _ := json.Marshal(reply)
		os.Stdout.Write(append(line, '\n'))
	}
}

func answer(name, version string, ops map[string]Op, batch *Batch, words []string) map[string]any {
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	n, _ := strconv.Atoi(arg(1))
	switch words[0] {
	case "describe":
		ids := []string{}
		for id := range ops {
			ids = append(ids, id)
		}
		return map[string]any{"name": name, "version": version, "runtime": runtime.Version(), "ops": ids, "threads": 1}
	case "prepare":
		op, known := ops[arg(1)]
		if !known {
			return map[string]any{"err": "unsupported", "msg": arg(1)}
		}
		data, err := os.ReadFile(arg(2))
		if err != nil {
			panic(err)
		}
		*batch = op(All(data, (*Reader).Lp))
		return map[string]any{"ok": true, "items": (*batch).items()}
	case "verify":
		var out []byte
		for i := 0; i < (*batch).items(); i++ {
			var blob []byte
			for _, part := range (*batch).outputs(i) {
				blob = append(blob, part...)
			}
			out = binary.LittleEndian.AppendUint32(out, uint32(len(blob)))
			out = append(out, blob...)
		}
		if err := os.WriteFile(arg(1), out, 0o600); err != nil {
			panic(err)
		}
		return map[string]any{"ok": true}
	case "run":
		took, acc := (*batch).run(n)
		return map[string]any{"n": n, "ns": took.Nanoseconds(), "acc": fmt.Sprintf("%016x", acc)}
	case "alloc":
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		(*batch).run(n)
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

// The peer of bench/checkers: reads a history that `bench_checkers write` wrote, has Porcupine decide it, and prints
// one line of JSON. Only the check is timed, not the reading.
//
// File, little endian: "HFBENCH1", the family's name in 16 bytes, uint32 permits, reentrancy; uint64 count; then per
// operation 48 bytes: int64 call, ret, argument, result; uint32 owner, key; uint8 call, outcome; 6 bytes of nothing.
//
// Unknown outcomes: the operation returns at the end of time. Porcupine wants every operation in its order, also one
// that never happened, and there are two ways to tell it (-unknown):
//
//	end   each partition gets one more operation, End, called when all known ones have returned, after which anything
//	      goes; before it an unknown operation must take effect. Few orders of equal effect: good for violations.
//	skip  an unknown operation that is not allowed where it stands does nothing. Rids the search of them early: good
//	      for correct histories with many of them, hopeless for violations.
//
// Neither is always the better one, so the table takes the better one of the two for every cell.
// Unknown reads say nothing and are left out.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	headerBytes    = 40
	operationBytes = 48
	nothing        = math.MinInt64
	never          = math.MaxInt64
)

const (
	outcomeOk = iota
	outcomeRefused
	outcomeUnknown
)

const (
	callRead = iota
	callWrite
	callCas
	callInsert
	callExtract
	callAcquire
	callRelease
	callEnd
)

type input struct {
	argument int64
	result   int64
	owner    uint32
	key      uint32
	f        uint8
	outcome  uint8
}

func (in *input) unknown() bool { return in.outcome == outcomeUnknown }

type history struct {
	family     string
	permits    uint32
	reentrancy uint32
	skips      bool
	operations []porcupine.Operation
}

func read(path string) (*history, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) < headerBytes || string(data[:8]) != "HFBENCH1" {
		return nil, fmt.Errorf("%s is no history of bench_checkers", path)
	}
	word := binary.LittleEndian.Uint32
	family := strings.TrimRight(string(data[8:24]), "\x00")
	h := &history{family: family, permits: word(data[24:]), reentrancy: word(data[28:])}
	count := binary.LittleEndian.Uint64(data[32:])
	data = data[headerBytes:]
	if uint64(len(data)) != count*operationBytes {
		return nil, io.ErrUnexpectedEOF
	}
	number := func(at int) int64 { return int64(binary.LittleEndian.Uint64(data[at:])) }
	inputs := make([]input, count)
	h.operations = make([]porcupine.Operation, 0, count+1)
	for i := range inputs {
		at := i * operationBytes
		in := &inputs[i]
		*in = input{argument: number(at + 16), result: number(at + 24), owner: word(data[at+32:]),
			key: word(data[at+36:]), f: data[at+40], outcome: data[at+41]}
		if in.unknown() && in.f == callRead {
			continue
		}
		h.operations = append(h.operations, porcupine.Operation{Input: in, Call: number(at), Return: number(at + 8)})
	}
	return h, nil
}

// withEnd lets the unknown operations of a partition not happen.
func (h *history) withEnd(operations []porcupine.Operation) []porcupine.Operation {
	last := int64(0)
	unknown := false
	for i := range operations {
		if operations[i].Return == never {
			unknown = true
		} else if operations[i].Return > last {
			last = operations[i].Return
		}
	}
	if !unknown || h.skips {
		return operations
	}
	return append(operations, porcupine.Operation{Input: &input{f: callEnd}, Call: last + 1, Return: last + 2})
}

func partition(h *history) func([]porcupine.Operation) [][]porcupine.Operation {
	return func(operations []porcupine.Operation) [][]porcupine.Operation {
		if h.family != "kv" {
			return [][]porcupine.Operation{h.withEnd(operations)}
		}
		var keys [][]porcupine.Operation
		for _, operation := range operations {
			key := int(operation.Input.(*input).key)
			for key >= len(keys) {
				keys = append(keys, nil)
			}
			keys[key] = append(keys[key], operation)
		}
		for key := range keys {
			keys[key] = h.withEnd(keys[key])
		}
		return keys
	}
}

// Not the resource usage: that one remembers what the process was before exec.
func peakMebibytes() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		var kibibytes float64
		if count, _ := fmt.Sscanf(line, "VmHWM: %f", &kibibytes); count == 1 {
			return kibibytes / 1024
		}
	}
	return 0
}

func main() {
	seconds := flag.Float64("seconds", 120, "time the check may take")
	mebibytes := flag.Int64("mebibytes", 0, "memory the process may take; the collector works harder near it")
	unknown := flag.String("unknown", "end", "how unknown outcomes are told: end or skip")
	flag.Parse()
	if *mebibytes > 0 {
		debug.SetMemoryLimit(*mebibytes << 20 * 9 / 10)
	}
	h, err := read(flag.Arg(0))
	if err == nil && h.family == "lease" {
		err = fmt.Errorf("a lease is a matter of time: no sequential model decides it")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	h.skips = *unknown == "skip"
	model := modelOf(h)
	model.Partition = partition(h)
	debug.FreeOSMemory() // what reading took is no part of the check
	start := time.Now()
	result := porcupine.CheckOperationsTimeout(model, h.operations, time.Duration(*seconds*float64(time.Second)))
	took := time.Since(start).Seconds()
	answer := map[porcupine.CheckResult]string{porcupine.Ok: "linearizable", porcupine.Illegal: "violation",
		porcupine.Unknown: "undecided"}[result]
	fmt.Printf("{\"answer\":%q,\"seconds\":%.6f,\"peak_mib\":%.1f,\"operations\":%d}\n", answer, took,
		peakMebibytes(), len(h.operations))
}

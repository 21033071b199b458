package main

import (
	"encoding/binary"
	"hash/maphash"
	"sort"
	"strings"

	"github.com/anishathalye/porcupine"
)

// over is the state after End: what is still open need not happen, so everything is allowed and nothing changes.
type over struct{}

type step func(state interface{}, in *input) (bool, interface{})

// A state must be comparable: Porcupine then needs no Equal.
func (h *history) model(initial interface{}, next step, hash func(state interface{}) uint64) porcupine.Model {
	return porcupine.Model{
		Init: func() interface{} { return initial },
		Step: func(state, in, _ interface{}) (bool, interface{}) {
			if _, isOver := state.(over); isOver {
				return true, state
			}
			if in.(*input).f == callEnd {
				return true, over{}
			}
			allowed, after := next(state, in.(*input))
			if !allowed && h.skips && in.(*input).unknown() {
				return true, state
			}
			return allowed, after
		},
		Hash: func(state interface{}) uint64 {
			if _, isOver := state.(over); isOver {
				return 1
			}
			return hash(state)
		},
	}
}

func modelOf(h *history) porcupine.Model {
	switch h.family {
	case "mutex", "reuse":
		return h.model(noOwner, stepMutex, func(state interface{}) uint64 { return mix(uint64(state.(uint32))) })
	case "reentrant":
		return h.model(reentrant{owner: noOwner}, stepReentrant(h.reentrancy), func(state interface{}) uint64 {
			return mix(uint64(state.(reentrant).owner)<<32 | uint64(state.(reentrant).depth))
		})
	case "rw", "semaphore":
		next := stepRw
		if h.family == "semaphore" {
			next = stepSemaphore(int64(h.permits))
		}
		return h.model(holders{}, next, func(state interface{}) uint64 { return hashText(state.(holders).owners) })
	case "queue":
		return h.model("", stepQueue, func(state interface{}) uint64 { return hashText(state.(string)) })
	}
	return h.model(int64(nothing), stepRegister, func(state interface{}) uint64 { return mix(uint64(state.(int64))) })
}

func mix(x uint64) uint64 {
	x = (x ^ x>>31) * 0x9E3779B97F4A7C15
	return x ^ x>>29
}

var seed = maphash.MakeSeed()

func hashText(text string) uint64 { return maphash.String(seed, text) }

func stepRegister(state interface{}, in *input) (bool, interface{}) {
	switch in.f {
	case callWrite:
		return true, in.argument
	case callCas:
		if in.outcome == outcomeRefused {
			return state.(int64) != in.argument, state
		}
		return state.(int64) == in.argument, in.result
	}
	return state.(int64) == in.result, state
}

const noOwner = ^uint32(0)

func stepMutex(state interface{}, in *input) (bool, interface{}) {
	if in.f == callAcquire {
		return state.(uint32) == noOwner, in.owner
	}
	return state.(uint32) == in.owner, noOwner
}

type reentrant struct {
	owner uint32
	depth uint32
}

func stepReentrant(limit uint32) step {
	return func(state interface{}, in *input) (bool, interface{}) {
		now := state.(reentrant)
		if in.f == callAcquire {
			if now.depth > 0 && (now.owner != in.owner || now.depth >= limit) {
				return false, state
			}
			return true, reentrant{in.owner, now.depth + 1}
		}
		if now.depth == 0 || now.owner != in.owner {
			return false, state
		}
		if now.depth == 1 {
			return true, reentrant{owner: noOwner}
		}
		return true, reentrant{now.owner, now.depth - 1}
	}
}

// holders are the owners of a shared lock, four bytes each in ascending order, and how much they hold together.
type holders struct {
	owners string
	used   int64
}

const ownerBytes = 4

func (h holders) find(owner uint32) (at int, found bool, text [ownerBytes]byte) {
	binary.BigEndian.PutUint32(text[:], owner)
	count := len(h.owners) / ownerBytes
	at = sort.Search(count, func(i int) bool { return h.owners[i*ownerBytes:(i+1)*ownerBytes] >= string(text[:]) })
	at *= ownerBytes
	return at, strings.HasPrefix(h.owners[at:], string(text[:])), text
}

func (h holders) with(in *input, amount int64) (bool, interface{}) {
	at, found, text := h.find(in.owner)
	if found {
		return false, h
	}
	return true, holders{h.owners[:at] + string(text[:]) + h.owners[at:], h.used + amount}
}

func (h holders) without(in *input, amount int64) (bool, interface{}) {
	at, found, _ := h.find(in.owner)
	if !found {
		return false, h
	}
	return true, holders{h.owners[:at] + h.owners[at+ownerBytes:], h.used - amount}
}

const (
	modeWrite = 0
	allOfIt   = int64(1) << 32
)

// A reader holds 1, a writer all; with a writer nobody else is there, so its release leaves nothing.
func stepRw(state interface{}, in *input) (bool, interface{}) {
	now := state.(holders)
	if in.f == callRelease {
		if now.used == allOfIt {
			return now.without(in, allOfIt)
		}
		return now.without(in, 1)
	}
	if in.argument == modeWrite {
		if now.used > 0 {
			return false, state
		}
		return now.with(in, allOfIt)
	}
	if now.used >= allOfIt {
		return false, state
	}
	return now.with(in, 1)
}

// Every hold is released as a whole, as the generator does.
func stepSemaphore(permits int64) step {
	return func(state interface{}, in *input) (bool, interface{}) {
		now := state.(holders)
		if in.f == callRelease {
			return now.without(in, in.argument)
		}
		if now.used+in.argument > permits {
			return false, state
		}
		return now.with(in, in.argument)
	}
}

const valueBytes = 8

// The state is the values in the queue, eight bytes each: taking the first one copies nothing.
func stepQueue(state interface{}, in *input) (bool, interface{}) {
	items := state.(string)
	if in.f == callInsert {
		var value [valueBytes]byte
		binary.LittleEndian.PutUint64(value[:], uint64(in.argument))
		return true, items + string(value[:])
	}
	if len(items) == 0 {
		return !in.unknown() && in.result == nothing, state
	}
	var front [valueBytes]byte
	copy(front[:], items)
	if !in.unknown() && int64(binary.LittleEndian.Uint64(front[:])) != in.result {
		return false, state
	}
	return true, items[valueBytes:]
}

package llm

import (
	"encoding/json"
	"strconv"

	"pawl/text/display"

	"pawl/kernel/effect"
)

// compact shortens a conversation that fills more than 7 tenths of the room to about half of it, if it can: first
// results of older calls give way to their beginning and end, then long arguments of older calls. What was asked and
// what was planned stay whole, and so do the newest results as long as that is possible (docs/spec/turn.md#context).
func compact(r Request, room int64) ([]effect.Message, bool) {
	if estimate(r) <= room*7/10 {
		return nil, false
	}
	r.Messages = append([]effect.Message(nil), r.Messages...)
	changed := false
	for _, keep := range []int{5, 2} {
		changed = shortenResults(r.Messages, keep) || changed
		if estimate(r) <= room/2 {
			return r.Messages, changed
		}
	}
	changed = shortenCalls(r.Messages) || changed
	if estimate(r) > room*7/10 {
		changed = shortenResults(r.Messages, 0) || changed
	}
	return r.Messages, changed
}

// shortenResults shortens all but the newest results.
func shortenResults(list []effect.Message, keep int) (changed bool) {
	for i := len(list) - 1; i > 0; i-- {
		if list[i].Role != effect.RoleTool {
			continue
		}
		if keep--; keep < 0 {
			var cut bool
			list[i].Text, cut = shorten(list[i].Text)
			changed = changed || cut
		}
	}
	return changed
}

// shortenCalls shortens the arguments of all but the newest calls.
func shortenCalls(list []effect.Message) (changed bool) {
	newest := true
	for i := len(list) - 1; i >= 0; i-- {
		m := &list[i]
		if len(m.Calls) == 0 {
			continue
		}
		if newest {
			newest = false
			continue
		}
		calls := append([]effect.Ask(nil), m.Calls...)
		cut := false
		for n := range calls {
			var short bool
			calls[n].Args, short = shortenArgs(calls[n].Args)
			cut = cut || short
		}
		if cut {
			// The provider's own words hold the long arguments, too.
			m.Calls, m.Opaque, changed = calls, nil, true
		}
	}
	return changed
}

func shortenArgs(args json.RawMessage) (json.RawMessage, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return args, false
	}
	changed := false
	for name, raw := range fields {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			continue
		}
		if short, cut := shorten(s); cut {
			fields[name], _ = json.Marshal(short) // a string always encodes
			changed = true
		}
	}
	if !changed {
		return args, false
	}
	out, err := json.Marshal(fields)
	return out, err == nil
}

// The parts of a long text that stay: what failed is usually said at the end.
const keepHead, keepTail = 200, 200

func shorten(s string) (string, bool) {
	if len(s) <= keepHead+keepTail+60 {
		return s, false
	}
	head, tail := display.Head(s, keepHead), display.Tail(s, keepTail)
	left := len(s) - len(head) - len(tail)
	return head + " … (" + strconv.Itoa(left) + " bytes left out) … " + tail, true
}

package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"pawl"
	"pawl/kernel"
)

// maxLine bounds one line of a recording, in bytes.
const maxLine = 256 << 20

// Finding is one decision of a recording, made again.
type Finding struct {
	// Line counts from 1; Log is the size that the audit log had behind the decision.
	Line    int        `json:"line"`
	Log     int64      `json:"log"`
	At      time.Time  `json:"at"`
	Actor   pawl.Actor `json:"actor"`
	Command string     `json:"command"`
	Trace   string     `json:"trace,omitempty"`
	// Lost says that the recording does not hold what this decision was made from, and nothing was compared.
	Lost bool `json:"lost,omitempty"`
	// Decided and Now are the moves that were decided, and that would be.
	Decided []Move `json:"decided,omitempty"`
	Now     []Move `json:"now,omitempty"`
	// Refused is why nothing would be decided, nil where something would.
	Refused *pawl.Error `json:"-"`
	// Changes are what would be different; none when it would be decided alike.
	Changes []Change `json:"changes,omitempty"`
	// Settings are those that were different, where something else is.
	Settings []Change `json:"settings,omitempty"`
}

// Differs reports whether it would be decided differently.
func (f *Finding) Differs() bool { return len(f.Changes) > 0 }

// Change is one kind of difference.
type Change struct {
	// What is moves, effects, records, rows, result or refused; of a setting, its name.
	What string `json:"what"`
	// Decided is what was, and Now what would be instead; what is the same in both is left out.
	Decided []string `json:"decided,omitempty"`
	Now     []string `json:"now,omitempty"`
}

// Replay makes the decisions of a recording again with a configuration, in their order, and says of each what would be
// different. Nothing is tolerated. A line that cannot be read is a CodeInvalid error that names it; the lines behind it
// go on. A recording without a line is CodeInvalid, too. An error of r is CodeIO and ends the replay.
func Replay(r io.Reader, config *kernel.Config) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		in := &reader{docs: map[string]json.RawMessage{}}
		now := fingerprint(config)
		lines := bufio.NewReaderSize(r, 64<<10)
		n := 0
		for {
			raw, err := next(lines)
			if errors.Is(err, io.EOF) && len(raw) == 0 {
				break
			}
			n++
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Finding{Line: n}, pawl.Fail(pawl.CodeIO, "replay.unread", n).Because(err).In("replay.Replay"))
				return
			}
			f, bad := in.replay(raw, err == nil, config, now)
			f.Line = n
			if bad != nil {
				e := pawl.Fail(pawl.CodeInvalid, "replay.line", n).Because(bad).In("replay.Replay")
				if !yield(f, e) {
					return
				}
				continue
			}
			if !yield(f, nil) {
				return
			}
		}
		if n == 0 {
			yield(Finding{}, pawl.Fail(pawl.CodeInvalid, "replay.empty").In("replay.Replay"))
		}
	}
}

// next reads a line without its end. It is io.EOF, beside what there is, where the end is missing.
func next(r *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		part, err := r.ReadSlice('\n')
		out = append(out, part...)
		switch {
		case err == nil:
			return out[:len(out)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return out, err
		case len(out) > maxLine:
			return nil, fmt.Errorf("a line is longer than %d bytes", maxLine)
		}
	}
}

// replay makes the decision of one line again.
func (r *reader) replay(raw []byte, whole bool, config *kernel.Config, now map[string]string) (Finding, error) {
	l, err := parse(raw, whole)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{Log: l.Log, At: l.At, Actor: l.Actor, Command: l.Command, Trace: l.Trace, Lost: l.Lost,
		Decided: l.Decision.Moves}
	if l.Format < format { // nothing had to be shown to be done then
		earlier := *config
		earlier.Proofs, config = false, &earlier
	}
	s, env, err := r.decode(l, config)
	if err != nil {
		return f, err
	}
	if l.Lost {
		return f, nil
	}
	d, err := decide(s, env, l.At)
	if err != nil {
		f.Refused = refusal(err)
		f.Changes = append(f.Changes, Change{What: "refused", Now: []string{f.Refused.Error()}})
	}
	if l.Format < format {
		if err := l.Decision.present(); err != nil {
			return f, err
		}
	}
	is, err := (&writer{redact: func(s string) string { return s }, clear: map[string]bool{}}).outlined(&d)
	if err != nil {
		return f, err
	}
	f.Now = is.Moves
	if l.Format < format {
		l.Decision.retold(&is)
	}
	if l.Decision.digest() != is.digest() {
		f.Changes = append(f.Changes, compare(&l.Decision, &is)...)
	}
	if f.Differs() {
		f.Settings = settings(l.Config, now)
	}
	return f, nil
}

// parse reads a line and says why it is none.
func parse(raw []byte, whole bool) (*line, error) {
	if !whole {
		return nil, pawl.Fail(pawl.CodeInvalid, "replay.cut")
	}
	var head struct {
		Format   int             `json:"format"`
		Decision json.RawMessage `json:"decision"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "replay.damaged").Because(err)
	}
	if head.Format > format {
		return nil, pawl.Fail(pawl.CodeInvalid, "replay.newer", strconv.Itoa(head.Format))
	}
	if head.Format < 1 || head.Decision == nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "replay.foreign")
	}
	l := &line{}
	if err := strict(raw, l); err != nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "replay.damaged").Because(err)
	}
	if l.Digest != l.Decision.digest() {
		return nil, pawl.Fail(pawl.CodeInvalid,
			"replay.damaged").Because(errors.New("the decision is not the one that was written"))
	}
	return l, nil
}

// decide is kernel.Decide for a snapshot that may be nothing that a store could hold.
func decide(s *kernel.Snapshot, env *kernel.Envelope, now time.Time) (d kernel.Decision, err error) {
	defer func() {
		if p := recover(); p != nil {
			d, err = kernel.Decision{}, pawl.Fail(pawl.CodeInternal, "replay.crashed", fmt.Sprint(p))
		}
	}()
	return kernel.Decide(protocols(), s, env, now)
}

func refusal(err error) *pawl.Error {
	var e *pawl.Error
	if errors.As(err, &e) {
		return e
	}
	return pawl.Fail(pawl.CodeInternal, "replay.crashed", err.Error())
}

// compare says in what two decisions differ.
func compare(was, is *outline) []Change {
	var out []Change
	add := func(what string, decided, now []string) {
		if !slices.Equal(decided, now) {
			decided, now = apart(decided, now)
			out = append(out, Change{What: what, Decided: decided, Now: now})
		}
	}
	add("moves", each(was.Moves, Move.String), each(is.Moves, Move.String))
	add("effects", was.Effects, is.Effects)
	add("records", each(was.Records, record.String), each(is.Records, record.String))
	if len(out) == 0 {
		add("records", each(was.Records, record.whole), each(is.Records, record.whole))
	}
	decided, now := rows(was.Rows, is.Rows)
	add("rows", decided, now)
	if !bytes.Equal(was.Result, is.Result) {
		add("result", []string{string(was.Result)}, []string{string(is.Result)})
	}
	return out
}

// apart leaves out what two lists begin and end with alike.
func apart(a, b []string) ([]string, []string) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

func each[T any](list []T, text func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = text(v)
	}
	return out
}

// rows describes the rows that differ, each with the places in which it does.
func rows(was, is []row) (decided, now []string) {
	other := map[string]*row{}
	for i := range is {
		other[string(is[i].Kind)+is[i].ID] = &is[i]
	}
	for i := range was {
		a := &was[i]
		b := other[string(a.Kind)+a.ID]
		delete(other, string(a.Kind)+a.ID)
		if b == nil {
			decided = append(decided, called(a)+": "+a.State)
			continue
		}
		x, y := differing(a, b)
		decided, now = append(decided, x...), append(now, y...)
	}
	for i := range is {
		if b := other[string(is[i].Kind)+is[i].ID]; b != nil {
			now = append(now, called(b)+": "+b.State)
		}
	}
	return decided, now
}

// maxPlaces bounds the places that are named of one row.
const maxPlaces = 8

// differing names the places in which two rows differ, with what stands there.
func differing(a, b *row) (decided, now []string) {
	hotA, hotB := *a, *b
	hotA.Doc, hotB.Doc = nil, nil
	if a.Digest != b.Digest {
		hotA.Digest, hotB.Digest = "", ""
	}
	d := &differ{}
	d.walk(called(a), members(hotA), members(hotB))
	d.walk(called(a), value(a.Doc), value(b.Doc))
	if len(d.was) == 0 && a.Digest != b.Digest {
		d.add(called(a), a.Digest, b.Digest)
	}
	return d.was, d.is
}

func members(r row) map[string]any {
	raw, _ := encode(r) // it is made of texts and numbers
	m, _ := value(raw).(map[string]any)
	return m
}

func value(raw json.RawMessage) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&v) // a document that is none was refused before
	return v
}

// differ walks two documents in parallel.
type differ struct{ was, is []string }

// walk collects the places in which a and b differ.
func (d *differ) walk(at string, a, b any) {
	if len(d.was) >= maxPlaces || reflect.DeepEqual(a, b) {
		return
	}
	x, okX := a.(map[string]any)
	y, okY := b.(map[string]any)
	if okX && okY {
		names := slices.Collect(maps.Keys(x))
		for name := range y {
			if _, ok := x[name]; !ok {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			d.walk(at+"."+name, x[name], y[name])
		}
		return
	}
	p, okP := a.([]any)
	q, okQ := b.([]any)
	if okP && okQ && len(p) == len(q) {
		for i := range p {
			d.walk(at+"["+strconv.Itoa(i)+"]", p[i], q[i])
		}
		return
	}
	d.add(at, short(a), short(b))
}

func (d *differ) add(at, a, b string) {
	d.was, d.is = append(d.was, at+" = "+a), append(d.is, at+" = "+b)
}

// maxShort is the length at which a value is cut.
const maxShort = 120

func short(v any) string {
	if v == nil {
		return "–"
	}
	raw, _ := encode(v) // it was JSON before
	if text := []rune(string(raw)); len(text) > maxShort {
		return string(text[:maxShort]) + "…"
	}
	return string(raw)
}

// settings lists the settings that were others.
func settings(was, is map[string]string) []Change {
	var out []Change
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if is[name] != was[name] {
			out = append(out, Change{What: name, Decided: []string{was[name]}, Now: []string{is[name]}})
		}
	}
	return out
}

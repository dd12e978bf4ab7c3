package llm

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"pawl"
	"pawl/agent/wire"
	"pawl/kernel/effect"
)

// maxAsked bounds the calls of one answer.
const maxAsked = 64

// gathered is an answer as its pieces come in. Nothing of it counts before its end.
type gathered struct {
	form    wire.Form
	url     string
	emit    func(string)
	text    strings.Builder
	calls   []*piece
	opaque  json.RawMessage
	model   string
	finish  string
	usage   effect.Usage
	written int64
	seen    int // bytes of the answer, thoughts included
	begun   bool
	whole   bool
	flaw    error // why the answer cannot be used although it may become whole
}

// piece is a call in the making.
type piece struct {
	id, name string
	args     strings.Builder
	opaque   json.RawMessage
}

func (p *piece) grow(g *gathered, args string) {
	p.args.WriteString(args)
	g.seen += len(args)
}

func (g *gathered) say(text string) {
	if text == "" {
		return
	}
	g.text.WriteString(text)
	g.seen += len(text)
	if g.emit != nil {
		g.emit(text)
	}
}

// call begins another call.
func (g *gathered) call() *piece {
	p := &piece{}
	if len(g.calls) >= maxAsked {
		g.flaw = errors.New("more than " + strconv.Itoa(maxAsked) + " calls in one answer")
		return p
	}
	g.calls = append(g.calls, p)
	return p
}

// ended judges an answer at its terminal event, by the reason that the provider gives for its end. A reason that is not
// known to be good is not taken for one.
func (g *gathered) ended() error {
	switch wire.EndOf(g.finish) {
	case wire.Whole:
	case wire.Unsaid:
		return passing(pawl.Fail(pawl.CodeModel, "llm.cut", g.url), errors.New("no reason for the end was given"))
	case wire.Truncated:
		return pawl.Fail(pawl.CodeModel, "llm.truncated").In("llm.Stream")
	case wire.Filtered:
		return pawl.Fail(pawl.CodeModel, "llm.filtered", g.finish).In("llm.Stream")
	default:
		return malformed(errors.New("the answer ended with " + strconv.Quote(g.finish)))
	}
	for _, c := range g.calls {
		if c.name == "" && g.flaw == nil {
			g.flaw = errors.New("a call without a name")
		}
	}
	if g.flaw != nil {
		return malformed(g.flaw)
	}
	g.whole = true
	return nil
}

// reply returns what was gathered: all of a whole answer, and of any other only what it cost.
func (g *gathered) reply(asked string) Reply {
	r := Reply{Model: g.model, Usage: g.usage, Written: g.written, Begun: g.begun, Seen: int64(g.seen+2) / 3}
	if r.Model == "" {
		r.Model = asked
	}
	if !g.whole {
		return r
	}
	r.Text, r.Opaque = g.text.String(), own(g.form, g.opaque)
	for i, c := range g.calls {
		id := c.id
		if id == "" {
			id = "call_" + strconv.Itoa(i+1)
		}
		args := strings.TrimSpace(c.args.String())
		if args == "" || args == "null" {
			args = "{}"
		}
		r.Calls = append(r.Calls, effect.Ask{ID: id, Name: c.name, Args: json.RawMessage(args),
			Opaque: own(g.form, c.opaque)})
	}
	return r
}

// malformed is an answer that makes no sense. The next one may.
func malformed(err error) error {
	return passing(pawl.Fail(pawl.CodeModel, "llm.malformed"), err)
}

// words are a provider's own words with the form in which they mean something: a conversation may go on with another
// one.
type words struct {
	Form string          `json:"form"`
	Own  json.RawMessage `json:"own"`
}

// kept is the name of a form in kept words: a provider's name means the form that it was first asked in.
func kept(form wire.Form) string {
	if form == wire.Responses {
		return string(form)
	}
	return string(form.Provider())
}

func own(form wire.Form, raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	out, err := json.Marshal(words{kept(form), raw})
	if err != nil {
		return nil // what is no JSON cannot be handed back either
	}
	return out
}

// foreign returns the words of a form, nil where there are none or they are another's.
func foreign(form wire.Form, raw json.RawMessage) json.RawMessage {
	var w words
	if len(raw) == 0 || json.Unmarshal(raw, &w) != nil || w.Form != kept(form) {
		return nil
	}
	return w.Own
}

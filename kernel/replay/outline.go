package replay

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
)

// outline is a decision in its compact form.
type outline struct {
	Moves   []Move   `json:"moves,omitempty"`
	Effects []string `json:"effects,omitempty"`
	Records []record `json:"records,omitempty"`
	Rows    []row    `json:"rows,omitempty"`
	// Result is the answer to the caller.
	Result json.RawMessage `json:"result"`
}

// Move is one entity's move along one row of its machine.
type Move struct {
	// On is the entity: its kind, and its label or id.
	On    string `json:"on"`
	From  string `json:"from"`
	To    string `json:"to"`
	Rule  string `json:"rule"`
	Event string `json:"event"`
}

// String is the move on one line, with the id of its rule.
func (m Move) String() string {
	return fmt.Sprintf("%s: %s → %s (%s, %s)", m.On, m.From, m.To, m.Rule, m.Event)
}

// record is one audit record. Data is the digest of everything in it that the other members do not say.
type record struct {
	On    string      `json:"on"`
	Event string      `json:"event"`
	Level audit.Level `json:"level"`
	Data  string      `json:"data"`
}

func (r record) String() string { return r.On + ": " + r.Event }

// whole tells records of one kind apart.
func (r record) whole() string { return r.String() + " " + string(r.Level) + " " + r.Data }

// outlined puts a decision into its compact form. It leaves out what only the commit adds: versions, and places in the
// chains.
func (w *writer) outlined(d *kernel.Decision) (outline, error) {
	var out outline
	names := map[audit.Subject]string{}
	for _, doc := range d.Touched {
		v := reflect.ValueOf(doc)
		h := *hot(v)
		r, err := w.row(doc, kernel.Row{Kind: h.Kind, ID: h.ID, Label: h.Label, Parent: h.Parent, State: h.State,
			Epoch: h.Epoch, Due: h.Due, Rank: h.Rank})
		if err != nil {
			return out, err
		}
		out.Rows = append(out.Rows, r)
		names[audit.Subject{Kind: string(h.Kind), ID: h.ID}] = called(&r)
	}
	for i := range d.Entries {
		e := &d.Entries[i]
		on := names[e.Subject]
		if m := e.Move; m != nil {
			out.Moves = append(out.Moves, Move{On: on, From: m.From, To: m.To, Rule: m.Rule, Event: m.Event})
		}
		raw, err := w.clean(struct {
			Move  *audit.Transition
			Data  json.RawMessage
			Actor any
			At    any
			Trace string
		}{e.Move, e.Data, e.Actor, e.At, e.Trace})
		if err != nil {
			return out, err
		}
		out.Records = append(out.Records, record{On: on, Event: e.Event, Level: e.Level, Data: digest(raw)})
		if e.Event == string(kernel.AuditEffectRequested) {
			out.Effects = append(out.Effects, requested(e.Data))
		}
	}
	var err error
	out.Result, err = w.clean(d.Result)
	return out, err
}

// requested is the kind of the effect that a record tells of.
func requested(data json.RawMessage) string {
	var told struct {
		Effect effect.Kind `json:"effect"`
	}
	_ = json.Unmarshal(data, &told) // data of the kernel's own
	return string(told.Effect)
}

// called names a row for people.
func called(r *row) string {
	if r.Label == "" || r.Kind == kernel.KindSession {
		return strings.TrimSpace(string(r.Kind) + " " + tail(r))
	}
	return string(r.Kind) + " " + r.Label
}

// tail is what tells a row without a label from others of its kind. There is one session.
func tail(r *row) string {
	if r.Kind == kernel.KindSession || r.Kind == kernel.KindFlow {
		return ""
	}
	return r.ID
}

// digest is the digest of the outline without its documents, which have their own.
func (o outline) digest() string {
	rows := make([]row, len(o.Rows))
	for i, r := range o.Rows {
		r.Doc = nil
		rows[i] = r
	}
	o.Rows = rows
	raw, err := encode(o)
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	return digest(raw)
}

// stable is what of an outline does not depend on texts: the moves, the effects and the kinds of records.
func (o outline) stable() string {
	var b strings.Builder
	for _, m := range o.Moves {
		b.WriteString(m.String() + "\n")
	}
	for _, r := range o.Records {
		b.WriteString(r.String() + " " + string(r.Level) + "\n")
	}
	return b.String() + strings.Join(o.Effects, "\n")
}

// fingerprint says what a configuration was: each setting by name, a long one by its digest.
func fingerprint(c *kernel.Config) map[string]string {
	out := map[string]string{}
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		name, value := snake(v.Type().Field(i).Name), v.Field(i).Interface()
		switch x := value.(type) {
		case map[string]kernel.Tool:
			infos := map[string]effect.ToolInfo{}
			for n, t := range x {
				infos[n] = t.Info
			}
			value = infos
		case map[string]kernel.Mode:
			names := map[string]string{}
			for n, m := range x {
				names[n] = fmt.Sprintf("%T", m)
			}
			value = names
		case fmt.Stringer:
			value = x.String()
		}
		raw, err := encode(value)
		if err != nil {
			// A function cannot be told from another one.
			continue
		}
		out[name] = string(raw)
		if len(raw) > maxSetting {
			out[name] = digest(raw)
		}
	}
	return out
}

// maxSetting is the length up to which a setting is written out.
const maxSetting = 80

// snake writes a Go name as settings are written.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

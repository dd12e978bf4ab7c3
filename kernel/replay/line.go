package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/text/secret"
)

// format is the number of the form of a line. A change that older programs would misread takes the next number: since
// 2, what issues of the board and sessions had as flags are states (docs/spec/board.md#earlier,
// docs/spec/session.md#earlier). Since 3, a move in the name of a policy is recorded as that policy's, the end of a
// flow's last stage as UNSET, a step that is done as WORK_ITEM_COMPLETED, and what nobody gave a reason for as what it
// is (docs/spec/task.md#d21); and work has to be shown to have done what was wanted (docs/spec/turn.md#b16).
const format = 3

// line is one decision as it is written.
type line struct {
	Format int `json:"format"`
	// Log is the size of the audit log behind the decision, which tells where it stands among all of them.
	Log     int64           `json:"log"`
	At      time.Time       `json:"at"`
	Actor   pawl.Actor      `json:"actor"`
	Key     string          `json:"key,omitempty"`
	Trace   string          `json:"trace,omitempty"`
	Claim   int64           `json:"claim,omitempty"`
	Nonce   string          `json:"nonce"`
	Command string          `json:"command"`
	Args    json.RawMessage `json:"args"`
	Word    json.RawMessage `json:"word,omitempty"`
	// Snapshot are the fields of kernel.Snapshot that were filled, by name.
	Snapshot map[string]field  `json:"snapshot"`
	Config   map[string]string `json:"config"`
	Decision outline           `json:"decision"`
	// Digest is that of the decision.
	Digest string `json:"digest"`
	// Altered says that texts are not what they were: secrets were taken out, or the blanks of a JSON text. The
	// decision is that of the line then. Lost says that no line with the same moves, records and effects comes of it.
	Altered bool `json:"altered,omitempty"`
	Lost    bool `json:"lost,omitempty"`
}

// field is one field of a snapshot: a row, several, or a value without a row.
type field struct {
	Row   *row            `json:"row,omitempty"`
	Rows  []row           `json:"rows,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// rows calls f for every row of the line, in the order in which they are written.
func (l *line) rows(f func(*row) error) error {
	for _, name := range slices.Sorted(maps.Keys(l.Snapshot)) {
		in := l.Snapshot[name]
		if in.Row != nil {
			if err := f(in.Row); err != nil {
				return err
			}
		}
		for i := range in.Rows {
			if err := f(&in.Rows[i]); err != nil {
				return err
			}
		}
	}
	for i := range l.Decision.Rows {
		if err := f(&l.Decision.Rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// row is a row with its document, or with the digest of one that was written before.
type row struct {
	Kind     kernel.Kind     `json:"kind"`
	ID       string          `json:"id"`
	Pos      int64           `json:"pos,omitempty"`
	Label    string          `json:"label,omitempty"`
	Parent   string          `json:"parent,omitempty"`
	State    string          `json:"state,omitempty"`
	Version  int64           `json:"version,omitempty"`
	Epoch    int64           `json:"epoch,omitempty"`
	Due      time.Time       `json:"due,omitzero"`
	Rank     int64           `json:"rank,omitempty"`
	AuditSeq int64           `json:"audit_seq,omitempty"`
	Audit    string          `json:"audit_hash,omitempty"`
	Created  time.Time       `json:"created,omitzero"`
	Updated  time.Time       `json:"updated,omitzero"`
	Digest   string          `json:"digest"`
	Doc      json.RawMessage `json:"doc,omitempty"`
}

// writer encodes rows and texts.
type writer struct {
	redact  func(string) string
	changed bool
	// clear are digests of documents that hold no secret, so that each is looked through once.
	clear map[string]bool
}

// clean encodes a value without its secrets.
func (w *writer) clean(v any) (json.RawMessage, error) {
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	out, changed := secret.JSON(raw, w.redact)
	w.changed = w.changed || changed
	return out, nil
}

// text is a text without its secrets.
func (w *writer) text(s string) string {
	out := w.redact(s)
	w.changed = w.changed || out != s
	return out
}

// row encodes a document with its hot half.
func (w *writer) row(doc any, h kernel.Row) (row, error) {
	raw, err := encode(doc)
	if err != nil {
		return row{}, err
	}
	if name := digest(raw); !w.clear[name] {
		out, changed := secret.JSON(raw, w.redact)
		w.changed = w.changed || changed
		w.clear[name] = !changed
		raw = out
	}
	r := row{
		Kind: h.Kind, ID: h.ID, Pos: h.Pos, Label: h.Label, Parent: h.Parent, State: h.State, Version: h.Version,
		Epoch: h.Epoch, Due: h.Due, Rank: h.Rank,
		AuditSeq: h.AuditSeq, Created: h.CreatedAt, Updated: h.UpdatedAt, Digest: digest(raw), Doc: raw,
	}
	if h.AuditSeq > 0 {
		r.Audit = hex.EncodeToString(h.AuditHash[:])
	}
	return r, nil
}

// snapshot encodes what a decision was made from.
func (w *writer) snapshot(s *kernel.Snapshot) (map[string]field, error) {
	out := map[string]field{}
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		value := v.Field(i)
		if value.IsZero() || value.Type() == reflect.TypeFor[*kernel.Config]() {
			continue
		}
		f, err := w.field(value)
		if err != nil {
			return nil, err
		}
		out[v.Type().Field(i).Name] = f
	}
	return out, nil
}

// field encodes a field of the snapshot.
func (w *writer) field(v reflect.Value) (out field, err error) {
	switch {
	case isRow(v.Type()):
		var r row
		r, err = w.row(v.Interface(), *hot(v))
		out.Row = &r
	case v.Kind() == reflect.Slice && isRow(v.Type().Elem()):
		out.Rows = make([]row, v.Len())
		for i := range out.Rows {
			if out.Rows[i], err = w.row(v.Index(i).Interface(), *hot(v.Index(i))); err != nil {
				break
			}
		}
	case v.Kind() == reflect.Map && isRow(v.Type().Elem()):
		out.Rows = []row{}
		for _, id := range sortedKeys(v) {
			doc := v.MapIndex(reflect.ValueOf(id))
			if doc.IsNil() {
				continue // it was looked for and is not there
			}
			r, err := w.row(doc.Interface(), *hot(doc))
			if err != nil {
				return out, err
			}
			out.Rows = append(out.Rows, r)
		}
	default:
		out.Value, err = w.clean(v.Interface())
	}
	return out, err
}

func sortedKeys(v reflect.Value) []string {
	var out []string
	for _, k := range v.MapKeys() {
		out = append(out, k.String())
	}
	slices.Sort(out)
	return out
}

// isRow reports whether a type is a pointer to a document with its row.
func isRow(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return false
	}
	f, ok := t.Elem().FieldByName("Row")
	return ok && f.Anonymous && f.Type == reflect.TypeFor[kernel.Row]()
}

// hot returns the row of a document.
func hot(doc reflect.Value) *kernel.Row {
	return doc.Elem().FieldByName("Row").Addr().Interface().(*kernel.Row)
}

// reader reads lines. Docs are the documents of the lines so far.
type reader struct{ docs map[string]json.RawMessage }

// keep remembers a row's document, or finds it.
func (r *reader) keep(in *row) error {
	if in.Doc == nil {
		doc, ok := r.docs[in.Digest]
		if !ok {
			return fmt.Errorf("the document of %s %s is in no line before", in.Kind, in.ID)
		}
		in.Doc = doc
		return nil
	}
	if digest(in.Doc) != in.Digest {
		return fmt.Errorf("the document of %s %s is not the one that was written", in.Kind, in.ID)
	}
	r.docs[in.Digest] = in.Doc
	return nil
}

// fill reads a field of the snapshot.
func (r *reader) fill(into reflect.Value, in field) error {
	switch {
	case isRow(into.Type()) && in.Row != nil:
		return r.document(into, in.Row)
	case into.Kind() == reflect.Slice && isRow(into.Type().Elem()) && in.Row == nil && in.Value == nil:
		into.Set(reflect.MakeSlice(into.Type(), len(in.Rows), len(in.Rows)))
		for i := range in.Rows {
			if err := r.document(into.Index(i), &in.Rows[i]); err != nil {
				return err
			}
		}
		return nil
	case into.Kind() == reflect.Map && isRow(into.Type().Elem()) && in.Row == nil && in.Value == nil:
		into.Set(reflect.MakeMap(into.Type()))
		for i := range in.Rows {
			doc := reflect.New(into.Type().Elem()).Elem()
			if err := r.document(doc, &in.Rows[i]); err != nil {
				return err
			}
			into.SetMapIndex(reflect.ValueOf(in.Rows[i].ID), doc)
		}
		return nil
	case !isRow(into.Type()) && in.Value != nil && in.Row == nil:
		return json.Unmarshal(in.Value, into.Addr().Interface())
	}
	return errors.New("a part of the snapshot is of another form")
}

// document makes a document with its row.
func (r *reader) document(into reflect.Value, in *row) error {
	h := kernel.Row{
		Pos: in.Pos, Kind: in.Kind, ID: in.ID, Label: in.Label, Parent: in.Parent, State: in.State, Version: in.Version,
		Epoch: in.Epoch, Due: in.Due, Rank: in.Rank,
		AuditSeq: in.AuditSeq, Doc: in.Doc, CreatedAt: in.Created, UpdatedAt: in.Updated,
	}
	hash, err := hex.DecodeString(in.Audit)
	if err != nil || len(hash) != 0 && len(hash) != len(audit.Hash{}) {
		return errors.New("the hash of an audit record is malformed")
	}
	copy(h.AuditHash[:], hash)
	doc := reflect.New(into.Type().Elem())
	if err := kernel.Decode(h, doc.Interface().(kernel.Document)); err != nil {
		return err
	}
	into.Set(doc)
	return nil
}

// decode reads a line's question: the snapshot and the command.
func (r *reader) decode(l *line, config *kernel.Config) (*kernel.Snapshot, *kernel.Envelope, error) {
	c, err := command(l.Command, l.Args)
	if err != nil {
		return nil, nil, err
	}
	env := &kernel.Envelope{Actor: l.Actor, Key: l.Key, Trace: l.Trace, Claim: l.Claim, Command: c}
	if l.Word != nil {
		if err := json.Unmarshal(l.Word, &env.Word); err != nil {
			return nil, nil, err
		}
	}
	nonce, err := hex.DecodeString(l.Nonce)
	if err != nil || len(nonce) != len(env.Nonce) {
		return nil, nil, errors.New("the nonce is malformed")
	}
	copy(env.Nonce[:], nonce)
	if err := l.rows(r.keep); err != nil {
		return nil, nil, err
	}
	s := &kernel.Snapshot{Config: config}
	v := reflect.ValueOf(s).Elem()
	for name, in := range l.Snapshot {
		f := v.FieldByName(name)
		if !f.IsValid() || f.Type() == reflect.TypeFor[*kernel.Config]() {
			return nil, nil, fmt.Errorf("the snapshot has no %.40q", name)
		}
		if err := r.fill(f, in); err != nil {
			return nil, nil, err
		}
	}
	return s, env, nil
}

// present writes the documents of a decision of an earlier format as they are written now. Only those are read that
// have something of an earlier version in them, so that nothing else of them goes unnoticed.
func (o *outline) present() error {
	for i := range o.Rows {
		in := &o.Rows[i]
		var doc kernel.Document
		switch {
		case in.Kind == kernel.KindIssue && board.Outdated(in.Doc):
			doc = new(kernel.Issue)
		case in.Kind == kernel.KindSession && session.Outdated(in.Doc):
			doc = new(kernel.Session)
		default:
			continue
		}
		err := kernel.Decode(kernel.Row{Kind: in.Kind, ID: in.ID, Doc: in.Doc}, doc)
		if err != nil {
			return err
		}
		if in.Doc, err = encode(doc); err != nil {
			return err
		}
		in.Digest = digest(in.Doc)
	}
	return nil
}

// retold takes over how the records of moves and of steps that are done are told now, in a decision of an earlier
// format, and what a plan says of its own risk, which was not kept then. What moved, and by which row, is compared with
// the moves.
func (o *outline) retold(now *outline) {
	for i := range min(len(o.Rows), len(now.Rows)) {
		was, is := &o.Rows[i], now.Rows[i]
		for _, r := range []pawl.Risk{pawl.RiskLow, pawl.RiskMedium} {
			said := []byte(`"stated_risk":"` + string(r) + `",`)
			if is.Kind == kernel.KindSolution && bytes.Equal(was.Doc, bytes.Replace(is.Doc, said, nil, 1)) {
				was.Doc, was.Digest = is.Doc, is.Digest
			}
		}
	}
	if len(o.Records) != len(now.Records) {
		return
	}
	for i, r := range now.Records {
		was := &o.Records[i]
		move := strings.HasPrefix(was.Event, "STATE_TRANSITION_") && strings.HasPrefix(r.Event, was.Event)
		step := was.Event == "STEP_DONE" && r.Event == string(kernel.AuditWorkItemCompleted)
		if was.On == r.On && was.Level == r.Level && (move || step) {
			*was = r
		}
	}
}

// encode writes JSON as it is compared and redacted: compact, and with its characters as they are.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// strict reads one JSON value all of whose members must be known. The documents in it are kept byte for byte, whatever
// they are, which is why package strictjson does not read it.
func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

package backlog

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// object is a JSON object while its fields are read. What has the wrong type is a problem and reads as nothing.
type object struct {
	r    *Reader
	node node
	has  map[string]node
	used map[string]bool
}

// object reads the names of an object's fields. A name that stands twice is a problem, as no reader could tell which
// counts.
func (r *Reader) object(n node) object {
	o := object{r: r, node: n, has: map[string]node{}, used: map[string]bool{}}
	n.members(func(name string, at int, value node) {
		if _, twice := o.has[name]; twice {
			r.rep.problem(n.src.file, n.src.lineAt(at), value.pointer, "backlog.twice", clip(name))
			return
		}
		o.has[name] = value
	})
	return o
}

func (r *Reader) wrong(n node, want string) {
	r.rep.problem(n.src.file, n.line(), n.pointer, "backlog.type", want, n.Kind().String())
}

// get returns a field that is there and is not null.
func (o object) get(name string) (node, bool) {
	o.used[name] = true
	n, ok := o.has[name]
	return n, ok && n.Kind() != 'n'
}

func (o object) text(name string) string {
	n, ok := o.get(name)
	switch {
	case !ok:
		return ""
	case n.Kind() != '"':
		o.r.wrong(n, "string")
		return ""
	}
	return n.Text()
}

// first returns the first field of several names that says something.
func (o object) first(names ...string) (out string) {
	for _, name := range names {
		if s := o.text(name); out == "" {
			out = s
		}
	}
	return out
}

// texts reads an array of strings.
func (o object) texts(name string) (out []string, at []node) {
	n, ok := o.get(name)
	switch {
	case !ok:
		return nil, nil
	case n.Kind() != '[':
		o.r.wrong(n, "array")
		return nil, nil
	}
	n.elements(func(_ int, e node) {
		if e.Kind() != '"' {
			o.r.wrong(e, "string")
			return
		}
		out, at = append(out, e.Text()), append(at, e)
	})
	return out, at
}

// whole reads a number without a fraction.
func (o object) whole(name string) (int, bool) {
	n, ok := o.get(name)
	if !ok {
		return 0, false
	}
	v, ok := integer(n)
	if !ok {
		o.r.wrong(n, "integer")
	}
	return v, ok
}

func integer(n node) (int, bool) {
	if n.Kind() != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(n.Raw()), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<52 {
		return 0, false
	}
	return int(f), true
}

// instant reads a time; one that is none is a note, as nothing hangs on it.
func (o object) instant(name string) string {
	s := o.text(name)
	if s == "" {
		return ""
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		o.r.rep.note(o.node.src.file, o.has[name].line(), "backlog.note_time", name, clip(s))
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// rest counts the fields that nothing asked for.
func (o object) rest(silent []string) {
	o.node.members(func(name string, _ int, _ node) {
		if !o.used[name] && !slices.Contains(silent, name) {
			o.r.ignored(name)
		}
	})
}

// label writes a text or a whole number as text, for ids.
func (o object) label(name string) (string, bool) {
	n, ok := o.get(name)
	if !ok {
		return "", false
	}
	if v, isInt := integer(n); isInt {
		return strconv.Itoa(v), true
	}
	if n.Kind() != '"' {
		o.r.wrong(n, "string")
		return "", false
	}
	return n.Text(), true
}

package file

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"pawl/kernel/effect"
)

// Preview is what a call would change, as a unified diff that git apply takes.
type Preview struct {
	// Known says that the call is one of the tools of this package; what others change is known only once they ran.
	Known bool
	Patch string
	// Err is why the call would fail; what comes behind it is told as if it had done nothing.
	Err error
}

// Previews tells what calls would change in a tree, one behind the other, without changing anything: each is told on
// top of those before it. There is one for each call.
func Previews(place effect.Place, calls []effect.ToolCall) ([]Preview, error) {
	t, err := openTree(place)
	if err != nil {
		return nil, err
	}
	defer t.close()
	writers := map[string]Writer{}
	for _, w := range []Writer{Patch(nil), Write(nil), Delete(nil)} {
		writers[w.Info().Name] = w
	}
	out := make([]Preview, len(calls))
	var from source = shown{t}
	for i, c := range calls {
		w, ok := writers[c.Name]
		if !ok {
			continue
		}
		d := newDraft(from)
		out[i].Known = true
		if out[i].Err = w.plan(c.Args, d); out[i].Err != nil {
			continue
		}
		from = d
		var all strings.Builder
		for _, e := range d.edits() {
			all.WriteString(e.diff())
		}
		out[i].Patch = all.String()
	}
	return out, nil
}

// diff is the change of one file as git writes it. A file that is not text is only named.
func (e edit) diff() string {
	if e.old.exists == e.new.exists && string(e.old.data) == string(e.new.data) && e.old.mode == e.new.mode {
		return ""
	}
	before, after := "a/"+e.path, "b/"+e.path
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %s %s\n", quoted(before), quoted(after))
	switch {
	case !e.old.exists:
		fmt.Fprintf(&b, "new file mode %s\n", gitMode(e.new.mode))
		before = "/dev/null"
	case !e.new.exists:
		fmt.Fprintf(&b, "deleted file mode %s\n", gitMode(e.old.mode))
		after = "/dev/null"
	case gitMode(e.old.mode) != gitMode(e.new.mode):
		fmt.Fprintf(&b, "old mode %s\nnew mode %s\n", gitMode(e.old.mode), gitMode(e.new.mode))
	}
	old, now := string(e.old.data), string(e.new.data)
	switch {
	case old == now:
	case !isText(old) || !isText(now) || len(old)+len(now) > maxDiff:
		fmt.Fprintf(&b, "Binary files %s and %s differ\n", quoted(before), quoted(after))
	default:
		patch, err := udiff.ToUnified(quoted(before), quoted(after), old, udiff.Lines(old, now),
			udiff.DefaultContextLines)
		if err != nil { // the edits of a text that was just compared fit it
			return b.String()
		}
		b.WriteString(patch)
	}
	return b.String()
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// gitMode is the mode of a file as git keeps it.
func gitMode(mode uint32) string {
	if mode&0o100 != 0 {
		return "100755"
	}
	return "100644"
}

// quoted writes a name as git does: one that holds what would end it or its line stands in quotation marks.
func quoted(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		return name
	}
	return strconv.Quote(name)
}

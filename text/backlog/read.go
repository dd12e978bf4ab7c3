package backlog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"pawl"
)

// Format is the form of a file.
type Format string

// The forms. Auto tells them apart by the name and by how the file begins.
const (
	Auto     Format = ""
	State    Format = "state"    // state.json (docs/spec/board.md#persistence)
	Records  Format = "records"  // JSON objects in lines or arrays: ccw, GitHub, {title, body}
	Markdown Format = "markdown" // headings and task lists
)

// Options say how a backlog is read. The zero value will do.
type Options struct {
	// Scope is put in front of external ids that are unique only within their file, with a colon: those that Markdown
	// and records give or that are made, unless they have the form ISS-…. Name the file or the project in it where
	// several backlogs come into one workspace.
	Scope string
	// Repo is the repository of GitHub's records, as HOST/OWNER/NAME or OWNER/NAME for github.com. Without it, each
	// record's own address says so.
	Repo string
	// Loose leaves out dependencies that cannot be kept, with a note each, where they would be problems: those on
	// issues that are not there, and those that close a circle.
	Loose bool
}

// Reader gathers a backlog from one or several files or pages. It is not safe for concurrent use. After an error it
// stays with that error.
type Reader struct {
	opt    Options
	rep    report
	drafts []draft
	byID   map[string]int
	names  map[string]string // other names of issues: small letters → id, "" where several share it
	gone   map[string]string // ids that are not kept → the key of the note about it
	extra  map[string]int    // fields that are not kept, and how often
	order  []string          // of extra
	pulls  int
	linked int   // issues whose dependencies GitHub keeps beside the list
	size   int64 // of the present file
	text   int   // of all bodies
	out    Backlog
	err    error
}

// draft is an issue whose dependencies are not resolved yet.
type draft struct {
	Issue
	file   string
	github bool
	edges  []edge
}

// edge is a dependency as the source writes it.
type edge struct {
	ref     string
	line    int
	pointer string
}

// New returns an empty Reader.
func New(opt Options) *Reader {
	return &Reader{opt: opt, byID: map[string]int{}, names: map[string]string{}, gone: map[string]string{},
		extra: map[string]int{}}
}

// Read reads one file; name is shown in messages and helps to tell the form.
func Read(in io.Reader, name string, f Format, opt Options) (Backlog, error) {
	r := New(opt)
	if err := r.Add(in, name, f); err != nil {
		return Backlog{}, err
	}
	return r.Done()
}

// Add reads one more file or page. An empty one is a problem; a list without an element is none. CodeInvalid carries a
// *Malformed; CodeIO says that in failed.
func (r *Reader) Add(in io.Reader, name string, f Format) error {
	if r.err != nil {
		return r.err
	}
	r.size = 0
	err := r.add(bufio.NewReaderSize(&meter{in: in, of: r}, 64<<10), name, f)
	var t *torn
	switch {
	case errors.As(err, &t):
		r.rep.problem(name, t.line, "", t.key, t.args...)
	case errors.Is(err, errLarge):
		r.rep.problem(name, 0, "", "backlog.too_large", MaxBytes)
	case err != nil:
		r.err = pawl.Fail(pawl.CodeIO, "backlog.read", name).Because(err).In("backlog.Read")
		return r.err
	}
	r.err = r.rep.err("backlog.Read")
	return r.err
}

// errLarge ends the reading of what is too large.
var errLarge = errors.New("too large")

// meter counts what a file has.
type meter struct {
	in io.Reader
	of *Reader
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.in.Read(p)
	if m.of.size += int64(n); m.of.size > MaxBytes {
		return 0, errLarge
	}
	return n, err
}

func (r *Reader) add(in *bufio.Reader, name string, f Format) error {
	head, err := in.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		if _, err := in.Discard(3); err != nil {
			return err
		}
		head = head[3:]
	}
	if len(bytes.TrimSpace(head)) == 0 && len(head) < 4000 {
		return &torn{0, "backlog.empty", nil}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return &torn{1, "backlog.not_text", nil}
	}
	if f == Auto {
		f = Detect(name, head)
	}
	switch f {
	case State:
		return readState(r, in, name)
	case Records:
		return r.records(in, name)
	case Markdown:
		return r.markdown(in, name)
	}
	return &torn{0, "backlog.format", []any{string(f)}}
}

// Detect tells the form of a file from its name and the beginning of its contents. It always answers; whether the file
// has that form shows when it is read.
func Detect(name string, head []byte) Format {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	switch path.Ext(base) {
	case ".md", ".markdown", ".mdown", ".txt":
		return Markdown
	case ".jsonl", ".ndjson":
		return Records
	}
	switch {
	case base == "state.json":
		return State
	case bytes.HasPrefix(head, []byte("{")):
		for _, field := range []string{`"phase"`, `"queue"`, `"issues"`, `"completed_actions"`} {
			if bytes.Contains(head, []byte(field)) {
				return State
			}
		}
		return Records
	case bytes.HasPrefix(head, []byte("[{")), bytes.HasPrefix(head, []byte("[]")), path.Ext(base) == ".json":
		return Records
	case bytes.HasPrefix(head, []byte("[")) && bytes.HasPrefix(bytes.TrimSpace(head[1:]), []byte("{")):
		return Records
	}
	return Markdown
}

// whole reads a file that is read in one piece.
func whole(in io.Reader, most int) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(in, int64(most)+1))
	if err == nil && len(raw) > most {
		return nil, &torn{0, "backlog.too_large", []any{most}}
	}
	return raw, err
}

// records reads a file of records one by one.
func (r *Reader) records(in *bufio.Reader, name string) error {
	s := &splitter{in: in, file: name, line: 1}
	for len(r.rep.problems.List) < pawl.MaxProblems {
		src, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		top, bad := src.parse()
		if bad != nil {
			r.rep.problem(name, bad.line, src.pointer, bad.key, bad.args...)
			return nil
		}
		if r.full(name, src.line) {
			return nil
		}
		r.record(top)
	}
	return nil
}

// full reports, with a problem, that no further issue is taken.
func (r *Reader) full(name string, line int) bool {
	if len(r.drafts) < MaxIssues {
		return false
	}
	r.rep.problem(name, line, "", "backlog.too_many", MaxIssues)
	return true
}

// keep adds an issue. Those of GitHub may come twice, when the list moves between two pages: the later state counts.
func (r *Reader) keep(d draft) {
	if len(d.Body) > MaxBody {
		r.rep.problem(d.file, d.Line, "", "backlog.body", len(d.Body), MaxBody)
		return
	}
	if len(d.Tags) > MaxTags {
		r.rep.note(d.file, d.Line, "backlog.note_tags", d.name(), len(d.Tags)-MaxTags)
		d.Tags = d.Tags[:MaxTags]
	}
	if len(d.edges) > MaxEdges {
		r.rep.problem(d.file, d.Line, "", "backlog.edges", len(d.edges), MaxEdges)
		return
	}
	if r.text += len(d.Body); r.text > MaxText {
		r.rep.problem(d.file, d.Line, "", "backlog.too_large", MaxText)
		return
	}
	at, twice := r.byID[d.ID]
	switch {
	case !twice:
		r.byID[d.ID] = len(r.drafts)
		r.drafts = append(r.drafts, d)
	case d.github && r.drafts[at].github:
		if d.UpdatedAt >= r.drafts[at].UpdatedAt {
			d.Line = r.drafts[at].Line
			r.drafts[at] = d
		}
	default:
		r.rep.problem(d.file, d.Line, "", "backlog.duplicate", clip(d.ID), r.drafts[at].Line)
	}
}

// name is what a message calls an issue.
func (i Issue) name() string {
	if i.Ref != "" {
		return clip(i.Ref)
	}
	return clip(i.Title)
}

// scoped returns the external id for one that is unique within its file.
func (r *Reader) scoped(id string) string {
	if r.opt.Scope == "" || strings.HasPrefix(id, "ISS-") {
		return id
	}
	return r.opt.Scope + ":" + id
}

// unnamed gives an external id to an issue whose source has none, and reports whether it is a new one: the title makes
// the id, and the body as well where another issue has the title already.
func (r *Reader) unnamed(d *draft) bool {
	for _, id := range []string{made(d.Title), made(d.Title, d.Body)} {
		d.ID = r.scoped(id)
		at, taken := r.byID[d.ID]
		if !taken {
			return true
		}
		if r.drafts[at].Body == d.Body && r.drafts[at].Title == d.Title {
			break
		}
	}
	r.rep.note(d.file, d.Line, "backlog.note_twice", clip(d.Title))
	return false
}

// also lets an issue be found by another name.
func (r *Reader) also(name, id string) {
	name = strings.ToLower(name)
	if had, ok := r.names[name]; ok && had != id {
		id = ""
	}
	r.names[name] = id
}

// ignored counts a field that is not kept.
func (r *Reader) ignored(name string) {
	if r.extra[name] == 0 {
		if len(r.order) == pawl.MaxProblems {
			return
		}
		r.order = append(r.order, name)
	}
	r.extra[name]++
}

// Done resolves the dependencies and returns the backlog.
func (r *Reader) Done() (Backlog, error) {
	if r.err != nil {
		return Backlog{}, r.err
	}
	r.resolve()
	r.circles()
	if r.err = r.rep.err("backlog.Done"); r.err != nil {
		return Backlog{}, r.err
	}
	for _, name := range r.order {
		r.rep.note("", 0, "backlog.note_field", clip(name), r.extra[name])
	}
	if r.pulls > 0 {
		r.rep.note("", 0, "backlog.note_pulls", r.pulls)
	}
	if r.linked > 0 {
		r.rep.note("", 0, "backlog.note_linked", r.linked)
	}
	if len(r.drafts) == 0 {
		r.rep.note("", 0, "backlog.note_none")
	}
	out := r.out
	out.Issues = make([]Issue, len(r.drafts))
	for i := range r.drafts {
		out.Issues[i] = r.drafts[i].Issue
	}
	out.Notes, out.MoreNotes = slices.Clone(r.rep.notes), r.rep.moreNotes
	return out, nil
}

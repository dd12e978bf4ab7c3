// Package drivertest is the suite that every tool passes. It knows tools only by their methods, works in temporary
// folders, and kills a call at each of its failpoints to see that nothing is lost, done twice or left behind.
package drivertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"pawl"
	"pawl/driver/tool"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

// Case is one call of a tool that succeeds.
type Case struct {
	Name string
	// New makes the tool with a failpoint, which may be nil. Tools without failpoints ignore it.
	New func(fail func(point string) error) tool.Tool
	// Tree are the files to begin with, by path. A path that ends in a slash is an empty folder, and content that
	// begins with "#!" makes the file executable.
	Tree map[string]string
	// Args are the arguments of the call in JSON.
	Args string
	// Want, unless nil, are the files to end with, in the form of Tree, empty folders apart.
	Want map[string]string
}

// errCrash is what a failpoint returns in place of the death of the process.
var errCrash = errors.New("crash")

// Run puts a tool through the suite: its description, its arguments, and what it does, once, twice, killed, undone and
// canceled. Tools that ask to write or delete files must be safe to run again; the others must leave the tree alone,
// and give the same answer twice when they call themselves idempotent.
func Run(t *testing.T, c Case) {
	t.Helper()
	t.Run(c.Name, func(t *testing.T) {
		t.Run("info", c.info)
		t.Run("arguments", c.arguments)
		t.Run("canceled", c.canceled)
		if may := c.New(nil).Info().Permissions; !slices.Contains(may, policy.FSWrite) &&
			!slices.Contains(may, policy.FSDelete) {
			t.Run("read", c.read)
			return
		}
		t.Run("do", c.do)
		t.Run("crash", c.crash)
		t.Run("crash then undo", c.crashUndo)
		t.Run("undo", c.undo)
		t.Run("conflict", c.conflict)
	})
}

// Effect returns the effect of one call in a tree.
func Effect(tree, name, args string) effect.Effect {
	call := effect.ToolCall{CallID: "c1", Name: name, Version: "1.0.0", Args: json.RawMessage(args)}
	return effect.Effect{ID: "e1", Kind: effect.KindTool, Place: effect.Place{Workspace: tree, Tree: tree},
		Spec: effect.Encode(call)}
}

// Populate writes files in the form of Case.Tree below a folder.
func Populate(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(p, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(data, "#!") {
			mode = 0o755
		}
		must(t, os.WriteFile(p, []byte(data), mode))
		must(t, os.Chmod(p, mode))
	}
}

// Snapshot reads everything below a folder: the type, permissions and bytes of every entry by its path.
func Snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		entry := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			entry += " " + string(data)
		case info.Mode().Type() == fs.ModeSymlink:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			entry += " " + to
		}
		out[filepath.ToSlash(rel)] = entry
		return nil
	}))
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (c Case) begin(t *testing.T) (dir string, tree map[string]string, e effect.Effect) {
	t.Helper()
	dir = t.TempDir()
	Populate(t, dir, c.Tree)
	return dir, Snapshot(t, dir), Effect(dir, c.New(nil).Info().Name, c.Args)
}

// committed is the effect as the kernel commits it: with the images of its preflight.
func (c Case) committed(t *testing.T, e effect.Effect) effect.Effect {
	t.Helper()
	images, err := c.New(nil).Preflight(t.Context(), e)
	must(t, err)
	call, err := effect.Decode[effect.ToolCall](e.Spec)
	must(t, err)
	call.Images = images
	e.Spec = effect.Encode(call)
	return e
}

func (c Case) info(t *testing.T) {
	info := c.New(nil).Info()
	if info.Name == "" || info.Description == "" || len(info.Permissions) == 0 || info.DefaultTimeMS <= 0 {
		t.Errorf("incomplete: %+v", info)
	}
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(info.Version) {
		t.Errorf("version %q", info.Version)
	}
	for _, p := range info.Permissions {
		if !p.Valid() {
			t.Errorf("permission %q", p)
		}
	}
	args, err := jsonschema.UnmarshalJSON(strings.NewReader(c.Args))
	must(t, err)
	must(t, Schema(t, info.ArgsSchema).Validate(args))
	Schema(t, info.ReturnSchema)
}

// Schema compiles a schema and checks that it forbids members that it does not name.
func Schema(t testing.TB, raw json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	must(t, err)
	if closed, ok := doc.(map[string]any)["additionalProperties"].(bool); !ok || closed {
		t.Error("additionalProperties is not false")
	}
	compiler := jsonschema.NewCompiler()
	must(t, compiler.AddResource("tool.json", doc))
	s, err := compiler.Compile("tool.json")
	must(t, err)
	return s
}

// arguments: what is not exactly as the schema says is refused, by Request and by Do alike, and changes nothing.
func (c Case) arguments(t *testing.T) {
	driver := c.New(nil)
	if _, err := driver.Request(json.RawMessage(c.Args)); err != nil {
		t.Fatalf("good arguments: %v", err)
	}
	var members map[string]json.RawMessage
	must(t, json.Unmarshal([]byte(c.Args), &members))
	if len(members) == 0 {
		t.Fatal("the case has no arguments")
	}
	dir, before, e := c.begin(t)
	inner := strings.TrimSpace(c.Args)
	inner = inner[1 : len(inner)-1]
	bad := map[string]string{
		"unknown": "{" + inner + `,"approved":true}`, "array": "[]", "null": "null", "cut": c.Args[:len(c.Args)-1],
		"two": c.Args + "{}", "invalid UTF-8": "{" + inner + ",\"\xff\":1}", "huge": "{" + inner + `,"x":"` +
			strings.Repeat("x", 11<<20) + `"}`,
	}
	for name, value := range members {
		quoted, err := json.Marshal(name)
		must(t, err)
		bad["twice "+name] = fmt.Sprintf("{%s,%s:%s}", inner, quoted, value)
		bad["case "+name] = strings.Replace(c.Args, string(quoted), strings.ToUpper(string(quoted)), 1)
		bad["null "+name] = fmt.Sprintf("{%s:null}", quoted)
		bad["type "+name] = fmt.Sprintf("{%s:{}}", quoted)
	}
	for name, args := range bad {
		if _, err := driver.Request(json.RawMessage(args)); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%s: Request says %v", name, err)
		}
		if name == "huge" || !json.Valid([]byte(args)) {
			continue // too slow to decode twice, and what is no JSON cannot stand in a spec
		}
		if r := driver.Do(t.Context(), Effect(dir, e.ID, args), nil); r.OK || r.Code != pawl.CodeInvalid {
			t.Errorf("%s: Do says %+v", name, r)
		}
	}
	same(t, before, Snapshot(t, dir))
}

func (c Case) canceled(t *testing.T) {
	dir, before, e := c.begin(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := c.New(nil).Do(ctx, e, nil); r.OK || r.Code != pawl.CodeCanceled {
		t.Errorf("%+v", r)
	}
	same(t, before, Snapshot(t, dir))
}

func (c Case) read(t *testing.T) {
	dir, before, e := c.begin(t)
	driver := c.New(nil)
	first := c.mustDo(t, driver, e)
	if answer, _ := driver.Done(t.Context(), e); answer == effect.DoneYes {
		t.Error("Done says yes of a call that has to be made for its result")
	}
	if !driver.Info().Idempotent {
		return // a command: what it does and how it is undone is for its own tests
	}
	second := c.mustDo(t, driver, e)
	if diff := cmp.Diff(string(first.Payload), string(second.Payload)); diff != "" {
		t.Error(diff)
	}
	if r := driver.Undo(t.Context(), e, effect.Succeeded(first)); !r.OK {
		t.Errorf("undo: %+v", r)
	}
	same(t, before, Snapshot(t, dir))
}

// mustDo runs a call that has to succeed and checks its result against the published schema.
func (c Case) mustDo(t *testing.T, driver tool.Tool, e effect.Effect) effect.ToolResult {
	t.Helper()
	r := driver.Do(t.Context(), e, nil)
	if !r.OK {
		t.Fatalf("%+v", r)
	}
	res, err := effect.Decode[effect.ToolResult](r.Result)
	must(t, err)
	if res.CallID != "c1" {
		t.Errorf("call id %q", res.CallID)
	}
	payload, err := jsonschema.UnmarshalJSON(bytes.NewReader(res.Payload))
	must(t, err)
	if err := Schema(t, driver.Info().ReturnSchema).Validate(payload); err != nil {
		t.Errorf("%s: %v", res.Payload, err)
	}
	return res
}

func (c Case) do(t *testing.T) {
	dir, before, e := c.begin(t)
	driver := c.New(nil)
	if answer, _ := driver.Done(t.Context(), e); answer != effect.DoneUnknown {
		t.Errorf("without images Done says %s", answer)
	}
	e = c.committed(t, e)
	same(t, before, Snapshot(t, dir))
	if answer, _ := driver.Done(t.Context(), e); answer != effect.DoneNo {
		t.Errorf("before the call Done says %s", answer)
	}
	first := c.mustDo(t, driver, e)
	after := Snapshot(t, dir)
	if c.Want != nil {
		same(t, contents(wanted(t, c.Want)), contents(after))
	}
	answer, r := driver.Done(t.Context(), e)
	if answer != effect.DoneYes || !r.OK {
		t.Errorf("after the call Done says %s, %+v", answer, r)
	}
	again := c.mustDo(t, driver, e)
	same(t, after, Snapshot(t, dir))
	if diff := cmp.Diff(string(first.Payload), string(again.Payload)); diff != "" {
		t.Error(diff)
	}
}

func wanted(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	Populate(t, dir, files)
	return Snapshot(t, dir)
}

// contents drops the folders of a snapshot.
func contents(tree map[string]string) map[string]string {
	out := map[string]string{}
	for p, entry := range tree {
		if entry[0] != 'd' {
			out[p] = entry
		}
	}
	return out
}

// points lists the failpoints that a call passes.
func (c Case) points(t *testing.T) (points []string, final map[string]string) {
	t.Helper()
	dir, _, e := c.begin(t)
	r := c.New(func(p string) error { points = append(points, p); return nil }).Do(t.Context(), c.committed(t, e), nil)
	if !r.OK || len(points) == 0 {
		t.Fatalf("%d failpoints, %+v", len(points), r)
	}
	return points, Snapshot(t, dir)
}

// killed runs the call and kills it at the n-th failpoint.
func (c Case) killed(t *testing.T, n int) (dir string, before map[string]string, e effect.Effect) {
	t.Helper()
	dir, before, e = c.begin(t)
	e = c.committed(t, e)
	count := -1
	r := c.New(func(string) error {
		if count++; count == n {
			return errCrash
		}
		return nil
	}).Do(t.Context(), e, nil)
	if r.OK {
		t.Fatal("the call survived the crash")
	}
	return dir, before, e
}

func (c Case) crash(t *testing.T) {
	points, final := c.points(t)
	for n, name := range points {
		dir, _, e := c.killed(t, n)
		driver := c.New(nil)
		answer, _ := driver.Done(t.Context(), e)
		finished := cmp.Equal(final, Snapshot(t, dir))
		if answer == effect.DoneUnknown || finished != (answer == effect.DoneYes) {
			t.Errorf("at %q Done says %s, finished %v", name, answer, finished)
		}
		if again := c.committed(t, e); string(again.Spec) != string(e.Spec) {
			t.Errorf("at %q the preflight of the second attempt says %s, want %s", name, again.Spec, e.Spec)
		}
		c.mustDo(t, driver, e)
		same(t, final, Snapshot(t, dir))
	}
}

func (c Case) crashUndo(t *testing.T) {
	points, _ := c.points(t)
	for n := range points {
		dir, before, e := c.killed(t, n)
		if r := c.New(nil).Undo(t.Context(), e, effect.Receipt{}); !r.OK {
			t.Fatalf("at %q: %+v", points[n], r)
		}
		same(t, before, Snapshot(t, dir))
	}
}

func (c Case) undo(t *testing.T) {
	dir, before, e := c.begin(t)
	driver := c.New(nil)
	e = c.committed(t, e)
	done := driver.Do(t.Context(), e, nil)
	after := Snapshot(t, dir)
	undone := driver.Undo(t.Context(), e, done)
	if !undone.OK {
		t.Fatalf("%+v", undone)
	}
	same(t, before, Snapshot(t, dir))
	if r := driver.Undo(t.Context(), e, done); !r.OK {
		t.Errorf("undo twice: %+v", r)
	}
	same(t, before, Snapshot(t, dir))
	redone := driver.Undo(t.Context(), e, undone)
	if !redone.OK {
		t.Fatalf("%+v", redone)
	}
	same(t, after, Snapshot(t, dir))
	if r := driver.Undo(t.Context(), e, redone); !r.OK {
		t.Errorf("%+v", r)
	}
	same(t, before, Snapshot(t, dir))
}

// conflict: a change by somebody else to any file of the call makes Do, Done and Undo refuse, and stays.
func (c Case) conflict(t *testing.T) {
	_, _, e := c.begin(t)
	call, err := effect.Decode[effect.ToolCall](c.committed(t, e).Spec)
	must(t, err)
	for _, im := range call.Images {
		for _, late := range []bool{false, true} {
			dir, _, e := c.begin(t)
			driver := c.New(nil)
			e = c.committed(t, e)
			var done effect.Receipt
			if late {
				done = driver.Do(t.Context(), e, nil)
			}
			p := filepath.Join(dir, filepath.FromSlash(im.Path))
			must(t, os.MkdirAll(filepath.Dir(p), 0o755))
			must(t, os.WriteFile(p, []byte("somebody else's\n"), 0o644))
			foreign := Snapshot(t, dir)
			var r effect.Receipt
			if late {
				r = driver.Undo(t.Context(), e, done)
			} else {
				r = driver.Do(t.Context(), e, nil)
			}
			if r.OK || r.Code != pawl.CodeConflict || !slices.Contains(r.Args, im.Path) {
				t.Errorf("%s, late %v: %+v", im.Path, late, r)
			}
			if answer, _ := driver.Done(t.Context(), e); answer != effect.DoneUnknown {
				t.Errorf("%s, late %v: Done says %s", im.Path, late, answer)
			}
			same(t, foreign, Snapshot(t, dir))
		}
	}
}

func same(t *testing.T, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

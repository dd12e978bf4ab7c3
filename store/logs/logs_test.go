package logs

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pawl"
	"pawl/text/secret"
)

func TestRecord(t *testing.T) {
	d := Of(filepath.Join(t.TempDir(), "state"))
	ctx, end := d.Record(context.Background(), "E0", nil)
	_, _ = io.WriteString(New(ctx, "gone"), "where nothing of pawl's is\n")
	end()
	if _, err := os.Stat(filepath.Dir(string(d))); err == nil {
		t.Error("a workspace that is gone was made again")
	}
	if err := os.Mkdir(filepath.Dir(string(d)), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, end = d.Record(context.Background(), "E1", nil)
	quiet := New(ctx, "quiet")
	vet, odd := New(ctx, "go vet"), New(ctx, "../../a/b\n\x1b[31m"+strings.Repeat("é", 200))
	if _, err := os.Stat(string(d)); err == nil {
		t.Error("a folder was made before anything was written")
	}
	var many sync.WaitGroup
	for range 8 {
		many.Go(func() { _, _ = io.WriteString(vet, "a line\n") })
	}
	many.Wait()
	_, _ = odd.Write([]byte{0xff, 0, '\n'})
	parts := d.Parts("E1")
	if len(parts) != 2 || parts[0].Name != "go vet" || parts[0].Size != 8*7 ||
		!strings.HasPrefix(parts[1].Name, "../../a/b\n\x1b[31mé") {
		t.Fatalf("%+v", parts)
	}
	for _, p := range parts {
		if rel, err := filepath.Rel(string(d), p.File); err != nil || filepath.Dir(rel) != "E1" {
			t.Errorf("%s is not in its folder", p.File)
		}
		if info, err := os.Stat(p.File); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", p.File, info.Mode(), err)
		}
	}
	end()
	_, _ = io.WriteString(vet, "late\n")
	_, _ = io.WriteString(quiet, "late\n")
	if again := d.Parts("E1"); len(again) != 2 || again[0].Size != parts[0].Size {
		t.Errorf("written after the end: %v", again)
	}

	// Another attempt at the same effect, by another process, takes nothing away.
	ctx, end = d.Record(context.Background(), "E1", nil)
	_, _ = io.WriteString(New(ctx, "go vet"), "second\n")
	end()
	if parts := d.Parts("E1"); len(parts) != 3 || parts[2].Number != 3 || parts[2].Name != "go vet" {
		t.Errorf("%+v", parts)
	}
}

// What cannot be kept is never an error of those who write.
func TestWriteNeverFails(t *testing.T) {
	write := func(ctx context.Context) {
		t.Helper()
		if n, err := New(ctx, "x").Write([]byte("abc")); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	write(context.Background())
	var none *Log
	if n, err := none.Write([]byte("abc")); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, end := Dir(filepath.Join(taken, "logs")).Record(context.Background(), "E1", nil)
	defer end()
	write(ctx)
	for _, id := range []string{"..", "../E1", "a/b", ""} {
		ctx, end := Dir(filepath.Join(dir, "logs")).Record(context.Background(), id, nil)
		write(ctx)
		end()
	}
	entries, err := os.ReadDir(filepath.Join(dir, "logs"))
	if len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A folder that was put in the place of an effect's own must not lead anywhere else.
func TestLinksAreNotFollowed(t *testing.T) {
	dir, canary := t.TempDir(), t.TempDir()
	d := Dir(filepath.Join(dir, "logs"))
	if err := os.Mkdir(string(d), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(canary, filepath.Join(string(d), "E1")); err != nil {
		t.Fatal(err)
	}
	ctx, end := d.Record(context.Background(), "E1", nil)
	_, _ = io.WriteString(New(ctx, "x"), "secret")
	end()
	if entries, _ := os.ReadDir(canary); len(entries) != 0 {
		t.Errorf("written through a link: %v", entries)
	}
}

func TestPrune(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "logs"))
	d.Prune(10) // there is nothing yet
	const e1, e2, e3 = "01M8HS0ATMBQ0JD2D76B4MT7P1", "01M8HS0ATMBQ0JD2D76B4MT7P2", "01M8HS0ATMBQ0JD2D76B4MT7P3"
	foreign := filepath.Join(string(d), "Photos")
	for _, id := range []string{e1, e2, e3} {
		ctx, end := d.Record(context.Background(), id, nil)
		_, _ = io.WriteString(New(ctx, "x"), strings.Repeat("x", 100))
		end()
	}
	if err := errors.Join(os.Mkdir(foreign, 0o700), os.WriteFile(filepath.Join(foreign, "a.log"), make([]byte, 999), 0o600)); err != nil {
		t.Fatal(err)
	}
	d.Prune(250)
	if len(d.Parts(e1)) != 0 || len(d.Parts(e2)) != 1 || len(d.Parts(e3)) != 1 {
		t.Error("not the oldest went")
	}
	d.Prune(1)
	if len(d.Parts(e2)) != 0 || len(d.Parts(e3)) != 1 {
		t.Error("the newest has to stay")
	}
	if _, err := os.Stat(filepath.Join(foreign, "a.log")); err != nil {
		t.Error(err)
	}
	// Behind a link are the folders of somebody else, whatever their names are.
	linked := Dir(filepath.Join(t.TempDir(), "logs"))
	if err := os.Symlink(string(d), string(linked)); err != nil {
		t.Fatal(err)
	}
	linked.Prune(-1)
	if err := linked.Remove(e3); pawl.CodeOf(err) != pawl.CodeDenied || len(d.Parts(e3)) != 1 {
		t.Error(err)
	}
}

// A log is read while it is written: whole lines, and of the last one what can be understood already.
func TestRead(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "logs"))
	ctx, end := d.Record(context.Background(), "E1", nil)
	defer end()
	log := New(ctx, "x")
	var at int64
	next := func(ended bool) string {
		t.Helper()
		var got strings.Builder
		n, err := d.Parts("E1")[0].Read(at, ended, func(b []byte) error { got.WriteString(Plain(b)); return nil })
		if err != nil {
			t.Fatal(err)
		}
		at += n
		return got.String()
	}
	for _, step := range []struct {
		write, want string
		ended       bool
	}{
		{write: "one\ntwo\n", want: "one\ntwo\n"},
		{write: "...", want: "..."},
		{write: "..\n", want: "..\n"},
		{write: "10%\r50", want: ""},
		{write: "%\r100%\n", want: "100%\n"},
		{write: "\x1b[3", want: ""},
		{write: "1mred\x1b[0m\n", want: "red\n"},
		{write: "caf\xc3", want: "caf"},
		{write: "\xa9\n", want: "é\n"},
		{write: strings.Repeat("x", 3*chunk) + "\n", want: strings.Repeat("x", 3*chunk) + "\n"},
		{write: "the \rend", want: "end", ended: true},
	} {
		_, _ = io.WriteString(log, step.write)
		if got := next(step.ended); got != step.want {
			t.Errorf("%.20q: %.40q, want %.40q", step.write, got, step.want)
		}
	}
}

// TestMask: a text is masked as the log of the effect at work would be, and stays where nothing is recorded.
func TestMask(t *testing.T) {
	ctx, end := Of(t.TempDir()).Record(context.Background(), "E1", func(emit func([]byte)) io.WriteCloser {
		return secret.New("hunter2-correct-horse").Writer(emit)
	})
	defer end()
	const text = "one\nhunter2-correct-horse\ntwo"
	if got := Mask(ctx, text); strings.Contains(got, "hunter2") || !strings.HasPrefix(got, "one\n") || !strings.HasSuffix(got, "\ntwo") {
		t.Errorf("%q", got)
	}
	if got := Mask(context.Background(), text); got != text {
		t.Errorf("%q", got)
	}
}

// TestBrief: of each output the last lines stay, and nothing else goes.
func TestBrief(t *testing.T) {
	in := []string{"▸ $ a", "│ 1", "│ 2", "│ 3", "│ 4", "│ 5", "│ 6", "│ 7", "└ 0", "│ 1", "│ 2", "✗ 1", "text"}
	want := []string{"▸ $ a", "│ … +2", "│ 3", "│ 4", "│ 5", "│ 6", "│ 7", "└ 0", "│ 1", "│ 2", "✗ 1", "text"}
	if got := Brief(in); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

package sandbox

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

func startSpec(t *testing.T, script string) Spec {
	t.Helper()
	dir := t.TempDir()
	return Spec{Argv: []string{"/bin/sh", "-c", script}, Dir: dir, Writable: []string{dir},
		Env: []string{"PATH=/usr/bin:/bin"}, Timeout: time.Minute}
}

// TestStartKeepsStreamsApart talks with a command while it runs.
func TestStartKeepsStreamsApart(t *testing.T) {
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Start(context.Background(),
		startSpec(t, `read a; echo "got $a"; echo aside >&2; read b; echo "then $b"; exit 3`))
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(p.Stdout)
	for _, word := range []string{"one", "two"} {
		if _, err := io.WriteString(p.Stdin, word+"\n"); err != nil {
			t.Fatal(err)
		}
		line, err := out.ReadString('\n')
		if err != nil || !strings.HasSuffix(line, word+"\n") {
			_, why := p.Wait()
			t.Fatalf("%q %v: %v", line, err, why)
		}
	}
	aside, _ := io.ReadAll(p.Stderr)
	r, err := p.Wait()
	if err != nil || r.Exit != 3 || string(aside) != "aside\n" || len(r.Walls) == 0 {
		t.Errorf("%+v %v, aside %q", r, err, aside)
	}
}

// TestStartKill ends a command that does not listen, with what it started.
func TestStartKill(t *testing.T) {
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Start(context.Background(), startSpec(t, `trap "" TERM; sleep 100 & echo up; wait; sleep 100`))
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil || line != "up\n" {
		t.Fatalf("%q %v", line, err)
	}
	p.Kill()
	p.Kill()
	if r, err := p.Wait(); err != nil || !r.Canceled {
		t.Errorf("%+v %v", r, err)
	}
	if rest, err := io.ReadAll(p.Stdout); err != nil || len(rest) > 0 {
		t.Errorf("%q %v", rest, err)
	}
}

// TestStartReportsWhatIsMissing says through Wait why nothing ran.
func TestStartReportsWhatIsMissing(t *testing.T) {
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := startSpec(t, "")
	s.Argv = []string{"/no/such/program"}
	p, err := b.Start(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := p.Wait(); err == nil {
		t.Errorf("%+v", r)
	}
}

package checkpoint

import (
	"context"
	"os"
	"strings"
	"testing"

	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/text/policy"
	"pawl/text/secret"
)

// TestChange reads a change as the policy judges it: what is new, where links lead, and secrets that were not in the
// file before.
func TestChange(t *testing.T) {
	key := "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	drawn := "token = \"q7Zp2Xw9Lr4Tn8Vb1Km6\"\n"
	r := gittest.New(t, map[string]string{"old.txt": "a " + key + "\n", "moved.txt": "moves\n", "gone.txt": "x\n",
		"same.txt": "same\n"})
	ctx, place := context.Background(), effect.Place{Workspace: r.Dir, Tree: r.Dir, Git: true, InPlace: true}
	s := NewSnapshotter(nil)
	from, err := s.Snapshot(ctx, place)
	if err != nil {
		t.Fatal(err)
	}
	r.Write(map[string]string{"old.txt": "b\na " + key + "\n", "new.txt": "1\n2 " + key + "\n", "dir/moved.txt": "moves\n",
		"pkg/x_test.go": drawn, "pkg/x.go": drawn, "known.txt": "it is hunter2-hunter2 here\n", "mark.txt": "[secret:jwt]\n",
		"b/HEAD": "ref: refs/heads/main\n", "example.txt": "AKIAIOSFODNN7EXAMPLE\n", "nul.bin": "\x00" + drawn})
	for _, gone := range []string{"gone.txt", "moved.txt"} {
		if err := os.Remove(r.Path(gone)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../x", r.Path("link")); err != nil {
		t.Fatal(err)
	}
	to, err := s.Snapshot(ctx, place)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Change(ctx, place, from, to, secret.New("hunter2-hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]policy.Entry{}
	for _, e := range all {
		got[e.Path] = e
	}
	for path, want := range map[string]string{"new.txt": "2: ghp_…[secret:github-token]", "pkg/x.go": "1: q7Zp…[secret:assigned]",
		"known.txt": "1: [secret:env]", "old.txt": "", "pkg/x_test.go": "", "example.txt": "", "mark.txt": "", "nul.bin": ""} {
		var said []string
		for _, f := range got[path].Secrets {
			said = append(said, string(rune('0'+f.Line))+": "+f.Shown)
		}
		if _, ok := got[path]; !ok || strings.Join(said, ", ") != want {
			t.Errorf("%s: %q, want %q", path, said, want)
		}
	}
	if !got["mark.txt"].Marked || got["new.txt"].Marked || !got["b/HEAD"].Head || got["new.txt"].Head {
		t.Errorf("%+v", got)
	}
	if e := got["link"]; e.Mode != "120000" || e.Target != "../../x" || !e.New {
		t.Errorf("%+v", e)
	}
	if got["dir/moved.txt"].New || !got["new.txt"].New || got["old.txt"].New || got["gone.txt"].Mode != "" {
		t.Error("what is new is not told")
	}
	if _, ok := got["same.txt"]; ok || got["new.txt"].Size != int64(len("1\n2 "+key+"\n")) || got["new.txt"].Digest == "" {
		t.Errorf("%+v", got["new.txt"])
	}
}

package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/face/host"
	"pawl/kernel/effect"
)

// finder is a host to which every folder is a workspace.
type finder struct{ host.Host }

func (finder) Find(dir string) (effect.Place, error) { return effect.Place{Workspace: dir}, nil }

// TestAgainKeepsTheGlobalFlags has a command line run another one, which has to speak of the same workspace.
func TestAgainKeepsTheGlobalFlags(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"sub", "other"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	entry := func(name string, run func(a *cli.App)) cli.Entry {
		return cli.Entry{Name: name, Group: "look", Build: func(a *cli.App) *cobra.Command {
			return a.Command(name, "cli.status", "", cobra.ArbitraryArgs,
				func(*cobra.Command, []string) error { run(a); return nil })
		}}
	}
	tell := entry("tell", func(a *cli.App) {
		if a.JSON {
			a.Say("JSON")
		}
		place, err := a.Found()
		if err != nil {
			t.Error(err)
		}
		rel, err := filepath.Rel(dir, place.Workspace)
		a.Say(string(a.Lang) + " " + rel)
		if err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		args, inner []string
		want        string
	}{
		{[]string{"twice"}, []string{"tell"}, "en .\n"},
		{[]string{"-C", "sub", "--json", "--lang", "zh-CN", "twice"}, []string{"tell"}, "JSON\nzh-CN sub\n"},
		{[]string{"-C", "sub", "--lang=zh-CN", "twice"}, []string{"tell", "--lang", "en", "-C", "other"}, "en other\n"},
	} {
		var out bytes.Buffer
		twice := entry("twice", func(a *cli.App) {
			if status := cli.Again(context.Background(), a, c.inner); status != 0 {
				t.Errorf("%q within %q: exit status %d", c.inner, c.args, status)
			}
		})
		status := cli.Main(context.Background(), finder{}, host.Streams{Out: &out, Err: &out, Dir: dir}, c.args, tell,
			twice)
		if status != 0 || out.String() != c.want {
			t.Errorf("%q within %q: exit status %d, %q; want %q", c.inner, c.args, status, out.String(), c.want)
		}
	}
}

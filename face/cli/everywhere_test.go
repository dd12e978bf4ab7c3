package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/face/host"
)

// workspaces are those that a host knows.
type workspaces []string

func (w workspaces) List() []string { return w }

func (workspaces) Serve(context.Context, host.Everywhere) error { return errors.New("not served") }

func (workspaces) Enter(pawl.Actor) (address, code string, err error) {
	return "", "", errors.New("not served")
}

// Workspaces are the further ones of a test.
func (h *fakeHost) Workspaces() host.Workspaces { return h.all }

// elsewhere makes a further workspace, by its name. One that is broken cannot be opened.
func (h *fakeHost) elsewhere(t *testing.T, name string, broken error) *fakeHost {
	t.Helper()
	dir := filepath.Join(h.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	other := newHost(t)
	other.dir, other.shut = dir, broken
	if h.others == nil {
		h.others = map[string]*fakeHost{}
	}
	h.others[dir], h.all = other, append(h.all, dir)
	return other
}

// TestInboxOfAllWorkspaces: it is one list, the gravest first, each with the name of its workspace and a command that can
// be typed where the person is; a workspace that cannot be read keeps nobody from the others.
func TestInboxOfAllWorkspaces(t *testing.T) {
	bothLanguages(t, "inbox_all", func(c *console) {
		c.must(0, "inbox", "--all")
		c.host.elsewhere(c.t, "lost", pawl.Fail(pawl.CodeStoreDamaged, "store.damaged", "pawl.db"))
		c.host.elsewhere(c.t, "quiet", nil)
		shop, api := c.host.elsewhere(c.t, "the shop", nil), c.host.elsewhere(c.t, "api", nil)
		for _, dir := range c.host.all[1:] {
			c.must(0, "-C", dir, "init", "--bare")
		}
		c.must(0, "inbox", "--all")
		api.world.plan.Steps[1].ToolCalls[0].ArgsHint = json.RawMessage(`{"command":"git push origin main"}`)
		c.must(9, "-C", shop.dir, "run", "tidy the counter")
		c.must(9, "-C", api.dir, "run", "publish it")
		c.must(0, "inbox", "--all")
		c.must(2, "inbox", "--all", "--issue", "ISS-1")
		c.must(2, "inbox", "--all", "api")
		status, out, errs := c.run("inbox", "--all", "--json")
		var got struct {
			Needs []struct {
				Workspace, About, Digest string
				Next                     []struct{ Command string }
			}
			Workspaces []struct {
				Workspace, State string
				Needs            int
				Error            *struct{ Code, Message string }
			}
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 || errs != "" {
			c.t.Fatalf("%d %v %s%s", status, err, out, errs)
		}
		if len(got.Needs) != 2 || got.Needs[0].Workspace != api.dir || got.Needs[1].Workspace != shop.dir ||
			len(got.Workspaces) != 4 || got.Workspaces[0].Error == nil || got.Workspaces[0].Needs != 0 ||
			got.Workspaces[2].Error != nil || got.Workspaces[2].Needs != 1 || got.Workspaces[2].State != "CONFIRMING" {
			c.t.Errorf("%s", out)
		}
		// What it says to do can be done from here.
		for _, n := range got.Needs {
			inside := "'" + n.Workspace + "'"
			words := strings.Fields(strings.Replace(strings.Replace(n.Next[0].Command, inside, "DIR", 1), n.Workspace, "DIR", 1))
			for i := range words {
				words[i] = strings.Replace(words[i], "DIR", n.Workspace, 1)
			}
			c.must(0, append(words[1:], "--yes")...)
		}
		c.must(0, "inbox", "--all")
	})
}

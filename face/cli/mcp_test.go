package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/face/host"
)

// serving makes the host's workspaces serve by telling what they were asked for.
func serving(c *console) *host.Serving {
	got := new(host.Serving)
	c.host.serve = func(_ context.Context, s host.Serving) error {
		*got = s
		if s.Addr != "" {
			s.Ready("http://127.0.0.1:1/mcp")
		}
		return nil
	}
	return got
}

func TestServeAgents(t *testing.T) {
	c := newConsole(t, "en")
	if status, _, errs := c.run("mcp"); status != 3 || !strings.Contains(errs, "pawl init") {
		t.Errorf("before init: %d %s", status, errs)
	}
	c.run("init", "--bare")
	got := serving(c)
	// Nothing but the protocol may be written to a client on the streams.
	if status, out, errs := c.run("mcp"); status != 0 || out != "" || errs != "" || got.Addr != "" || got.In == nil ||
		got.Out == nil {
		t.Errorf("streams: %d %q %q %+v", status, out, errs, got)
	}
	status, out, _ := c.run("mcp", "--http", "127.0.0.1:0")
	if status != 0 || len(got.Token) < 20 || !strings.Contains(out, "http://127.0.0.1:1/mcp") ||
		!strings.Contains(out, "Bearer "+got.Token) {
		t.Errorf("HTTP: %d %q %+v", status, out, got)
	}
	first := got.Token
	if c.run("mcp", "--http", "127.0.0.1:0"); got.Token == first {
		t.Error("two servers have one token")
	}
	if status, _, errs := c.run("mcp", "--token-file", "x"); status != 2 || !strings.Contains(errs, "--http") {
		t.Errorf("token without HTTP: %d %s", status, errs)
	}
}

func TestTokenFile(t *testing.T) {
	c := newConsole(t, "en")
	c.run("init", "--bare")
	got := serving(c)
	name := filepath.Join(t.TempDir(), "token")
	status, out, _ := c.run("mcp", "--http", "127.0.0.1:0", "--token-file", name, "--json")
	info, err := os.Stat(name)
	if status != 0 || err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%d, %v, %v", status, err, info)
	}
	var told map[string]string
	if err := json.Unmarshal([]byte(out), &told); err != nil || told["token_file"] != name ||
		strings.Contains(out, got.Token) {
		t.Errorf("%v: %s", err, out)
	}
	first := got.Token
	if c.run("mcp", "--http", "127.0.0.1:0", "--token-file", name); got.Token != first {
		t.Error("the token of the file was not taken")
	}
	for what, change := range map[string]func() error{
		"600":      func() error { return os.Chmod(name, 0o644) },
		"no token": func() error { return os.WriteFile(name, []byte("two words\n"), 0o600) },
		"":         func() error { return os.Symlink(filepath.Join(t.TempDir(), "gone"), name) },
	} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if what != "" {
			if err := os.WriteFile(name, []byte(first), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		*got = host.Serving{}
		if status, _, errs := c.run("mcp", "--http", "127.0.0.1:0", "--token-file", name); status == 0 ||
			got.Addr != "" || !strings.Contains(errs, what) {
			t.Errorf("%q: %d %s", what, status, errs)
		}
	}
}

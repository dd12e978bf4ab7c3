//go:build unix

package keyring

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/text/message"
)

// install puts a program of the shell on an otherwise empty search path.
func install(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func TestRead(t *testing.T) {
	linux := `[ "$*" = "lookup service my/model username ada" ] && echo "sk-1 2" || exit 1`
	mac := `[ "$*" = "find-generic-password -s my/model -a ada -w" ] && echo "sk-1 2" || { echo "could not be found" >&2; exit 44; }`
	for system, c := range map[string]struct{ name, script string }{"linux": {"secret-tool", linux},
		"darwin": {"security", mac}} {
		install(t, c.name, c.script)
		if got, err := read(t.Context(), system, "my/model/ada"); got != "sk-1 2" || err != nil {
			t.Errorf("%s: %q %v", system, got, err)
		}
		if got, err := read(t.Context(), system, "my/model/bob"); got != "" || pawl.CodeOf(err) != pawl.CodeLogin {
			t.Errorf("%s: %q %v", system, got, err)
		}
	}
}

func TestRead_Refused(t *testing.T) {
	for _, entry := range []string{"", "model", "/ada", "model/", "-x/ada", "model/-x", "a\nb/c",
		strings.Repeat("x", 600) + "/a"} {
		install(t, "secret-tool", "echo key")
		if got, err := read(t.Context(), "linux", entry); got != "" || pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%q: %q %v", entry, got, err)
		}
	}
	for _, c := range []struct {
		system, name, script string
		code                 pawl.Code
		says                 string
	}{
		{"plan9", "secret-tool", "echo key", pawl.CodeEnvironment, "key_file"},
		{"linux", "other", "", pawl.CodeEnvironment, "libsecret-tools"},
		{"linux", "secret-tool", "echo key; echo 'Cannot autolaunch D-Bus' >&2; exit 1", pawl.CodeLogin,
			"secret-tool store --label=pawl service 'a b' username ada"},
		{"linux", "secret-tool", "exit 0", pawl.CodeLogin, "secret-tool store"},
		{"linux", "secret-tool", "while :; do echo keykeykeykeykeykeykeykeykeykeykeykeykeykeykey; i=x$i; [ ${#i} -gt 900 ] && exit 0; done", pawl.CodeLogin, "secret-tool store"},
	} {
		install(t, c.name, c.script)
		got, err := read(t.Context(), c.system, "a b/ada")
		text, hint := message.English.Error(err)
		if got != "" || pawl.CodeOf(err) != c.code || !strings.Contains(hint, c.says) ||
			strings.Contains(text+hint, "keykey") {
			t.Errorf("%+v: %q %v: %s: %s", c, got, err, text, hint)
		}
	}
}

func TestRead_Canceled(t *testing.T) {
	install(t, "secret-tool", "echo key; while :; do /bin/sleep 1; done")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := read(ctx, "linux", "a/b"); got != "" || pawl.CodeOf(err) != pawl.CodeLogin {
		t.Errorf("%q %v", got, err)
	}
}

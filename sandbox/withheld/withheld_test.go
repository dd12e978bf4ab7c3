package withheld

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestValues(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{".env": "PORT=3000\nDB_PASSWORD=hunter2-hunter2\n",
		"apps/web/.env.local": "API_KEY=another-value-9\n", ".env.example": "TOKEN=not-secret-at-all-1\n",
		"node_modules/x/.env": "TOKEN=of-somebody-else-1\n", "src/config.go": "const Password = \"of-the-source-1\"\n"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	canary := filepath.Join(out, "canary")
	if err := os.WriteFile(canary, []byte("TOKEN=outside-of-it-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(canary, filepath.Join(dir, "secrets.env")); err != nil {
		t.Fatal(err)
	}
	var v Values
	r := v.Of(dir)
	text := "hunter2-hunter2 another-value-9 not-secret-at-all-1 of-somebody-else-1 of-the-source-1 outside-of-it-1 3000"
	if got := r.Text(text); got != "[secret:env] [secret:env]"+strings.TrimPrefix(text, "hunter2-hunter2 another-value-9") {
		t.Errorf("%q", got)
	}
	if v.Of(dir) != r {
		t.Error("the files are read for each text")
	}
	if got := v.Of(filepath.Join(dir, "missing")).Text("x"); got != "x" {
		t.Errorf("%q", got)
	}
}

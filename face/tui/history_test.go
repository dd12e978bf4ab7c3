package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHistoryIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "history")
	h, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []string{"one", "one", "two\nrows <&>", " not this", "three ", strings.Repeat("x", maxEntry+1)} {
		if err := h.add(l); err != nil {
			t.Fatal(err)
		}
	}
	other, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.add("from another prompt"); err != nil {
		t.Fatal(err)
	}
	if err := h.add("four"); err != nil {
		t.Fatal(err)
	}
	want := []string{"one", "two\nrows <&>", "three", "from another prompt", "four"}
	again, err := openHistory(path)
	if err != nil || !slices.Equal(again.lines, want) {
		t.Errorf("%q %v, want %q", again.lines, err, want)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".history-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	var b strings.Builder
	b.WriteString("no JSON\n\"a\\u001b[2Jb\"\n")
	for i := range 40_000 {
		fmt.Fprintf(&b, "%q\n", fmt.Sprint("line ", i, strings.Repeat(".", 20)))
	}
	b.WriteString(`"cut o`)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := openHistory(path)
	if err != nil || len(h.lines) != maxEntries || !strings.HasPrefix(h.lines[maxEntries-1], "line 39999") {
		t.Fatalf("%d lines, %v", len(h.lines), err)
	}
	if err := h.add("new"); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Size() > maxEntries*64 || len(h.lines) != maxEntries ||
		h.lines[maxEntries-1] != "new" {
		t.Errorf("%v %v, %d lines", st, err, len(h.lines))
	}
	if _, err := openHistory(t.TempDir()); err == nil {
		t.Error("a folder is read as a history")
	}
}

func TestHistoryWithoutAFile(t *testing.T) {
	h, err := openHistory("")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.add("one"); err != nil || len(h.lines) != 1 {
		t.Errorf("%v %q", err, h.lines)
	}
}

func TestSecretsAreNotKept(t *testing.T) {
	for _, l := range []string{
		"set token=abc", "export API_KEY='x'", "password: hunter2", "db_password = x", "密码：一二三",
		"use AKIAABCDEFGHIJKLMNOP", "sk-ant-REDACTED", "clone https://ada:pw@example.com/x",
		"Authorization: Bearer abcdefghijklmnop", "ghp_0123456789abcdef0123", "-----BEGIN RSA PRIVATE KEY-----",
		`{"secret": "x"}`, "client_secret=\nabc",
	} {
		h := &history{}
		_ = h.add(l)
		if len(h.lines) > 0 {
			t.Errorf("kept: %q", l)
		}
	}
	for _, l := range []string{"fix the token parser", "rename password to passphrase",
		"~plan store secrets in the keyring", "task-force sk-x", "see https://example.com:8080/x"} {
		h := &history{}
		_ = h.add(l)
		if len(h.lines) == 0 {
			t.Errorf("not kept: %q", l)
		}
	}
}

func TestSearchGoesBack(t *testing.T) {
	h := &history{lines: []string{"Fix the login", "other", "fix login again"}}
	for _, c := range []struct {
		from int
		what string
		want int
	}{{3, "LOGIN", 2}, {2, "login", 0}, {0, "login", -1}, {9, "zebra", -1}} {
		if got := h.before(c.from, c.what); got != c.want {
			t.Errorf("before(%d, %q) = %d, want %d", c.from, c.what, got, c.want)
		}
	}
}

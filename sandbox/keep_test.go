package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/sandbox/allow"
)

func TestKeeperKeepsBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 64).Draw(t, "limit")
		parts := rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "parts")
		k := newKeeper(int64(limit))
		var all []byte
		for _, p := range parts {
			all = append(all, p...)
			if n, err := k.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		half := max(limit/2, 1)
		want := string(all)
		if len(all) > 2*half {
			want = fmt.Sprintf("%s\n[... %d bytes ...]\n%s", all[:half], len(all)-2*half, all[len(all)-half:])
		}
		sum := sha256.Sum256(all)
		if got := string(k.bytes()); got != want || k.total != int64(len(all)) ||
			k.digest() != hex.EncodeToString(sum[:]) {
			t.Fatalf("%q, want %q", got, want)
		}
		if cap(k.head) > 4*half+64 || cap(k.tail) > 4*half+64 {
			t.Fatal("more memory than the limit: ", cap(k.head), cap(k.tail))
		}
	})
}

func TestEnvironIsMinimal(t *testing.T) {
	base := []string{
		"PATH=/bin", "HOME=/home/u", "LANG=de_DE.UTF-8", "GITHUB_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x",
		"SSH_AUTH_SOCK=/x", "LD_PRELOAD=x",
		"BASH_ENV=x", "MY_VAR=x", "GOFLAGS=-mod=mod", "GOPROXY=https://user:pw@proxy.example", "CARGO_HOME=/c",
		"malformed", "=x", "TZ=",
	}
	got := Environ(base, map[string]string{"GOCACHE": "/cache", "API_KEY": "x", "A=B": "x", "NUL": "\x00",
		"npm_password": "x", "TERM": "xterm"})
	want := []string{
		"CARGO_HOME=/c", "GIT_TERMINAL_PROMPT=0", "GOCACHE=/cache", "GOFLAGS=-mod=mod", "GOPATH=/home/u/go", "HOME=" +
			Home, "LANG=de_DE.UTF-8",
		"NO_COLOR=1", "NVM_DIR=/home/u/.nvm", "PATH=/bin", "PUB_CACHE=/home/u/.pub-cache", "PYENV_ROOT=/home/u/.pyenv",
		"RUSTUP_HOME=/home/u/.rustup", "TERM=xterm", "TMPDIR=/tmp", "VOLTA_HOME=/home/u/.volta",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := Environ(nil, nil); !slices.Contains(got, "PATH=/usr/local/bin:/usr/bin:/bin") ||
		!slices.Contains(got, "HOME="+Home) {
		t.Errorf("%q", got)
	}
}

func TestUserinfo(t *testing.T) {
	for v, want := range map[string]bool{
		"https://u:p@h/x": true, "https://h/x@y": false, "direct,https://u@h": true, "https://a/,https://t@b": true,
		"a@b": false, "": false, "://": false,
	} {
		if allow.HasUserinfo(v) != want {
			t.Errorf("%q", v)
		}
	}
}

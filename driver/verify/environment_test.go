package verify

import (
	"strings"
	"testing"
)

func TestEnvironmental(t *testing.T) {
	for _, output := range []string{
		"write /x: no space left on device", "npm ERR! code ENOSPC",
		"sh: 1: jest: not found", "bash: line 3: cargo: command not found", "make: *** [Makefile:3: test] Error 127",
		"make[2]: *** [x.mk:9: a] Error 127", "/usr/bin/python3: No module named pytest",
		"main.go:3:8: module lookup disabled by GOPROXY=off",
		"go: go.mod requires go >= 1.99 (running go 1.26.8; GOTOOLCHAIN=local)",
		"a.go:3: mkdir /home/me/go/pkg/mod/cache/download/x: read-only file system",
		"npm error code ENOTCACHED", "npx canceled due to missing packages and no YES option",
		"Error: Cannot find module 'left-pad'",
		"error: attempting to make an HTTP request, but --offline was specified",
		"Cannot access central (https://repo.maven.apache.org/maven2) in offline mode",
		"No cached version of a:b:1 available for offline mode.", "Could not find rake-13.0 in locally installed gems",
		"curl: (6) Could not resolve host: example.org",
	} {
		if !environmental(1, []byte("some lines before\n"+output+"\nand after\n")) {
			t.Errorf("a failure of the machine: %q", output)
		}
	}
	for _, output := range []string{
		"", "--- FAIL: TestA (0.00s)", "expected not found, got found", "a.go:3:2: undefined: x", "record not found",
		"make: *** [Makefile:3: test] Error 1", "Error: Cannot find module './mine'",
		"Error: Cannot find module '../lib/a'",
		"ModuleNotFoundError: No module named 'mymodule'", "missing go.sum entry for module providing package x",
		"no required module provides package example.org/x; to add it:", "open /etc/x: read-only file system",
		"command not found in my own text", "FAIL: disk of the game is full",
	} {
		if environmental(1, []byte(output)) {
			t.Errorf("a failure of the work: %q", output)
		}
	}
	if !environmental(127, nil) || environmental(126, nil) {
		t.Error("exit status")
	}
}

func TestPrograms(t *testing.T) {
	got := Programs(checks(`cd sub && go test ./...; npm test | mvn -q`, `"$BUILD_DIR/x" makefile notgo`,
		gofmtCommand))
	if want := "go gofmt java mvn node npm"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

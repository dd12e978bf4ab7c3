package cli_test

import (
	"strings"
	"testing"

	"pawl/face/cli"
)

func TestBrief(t *testing.T) {
	for line, want := range map[string]bool{
		"status": true, "version": true, "status --json": true, "-C dir status": true,
		"--lang zh-CN status --no-color": true,
		"--dir status version":           true,
		"":                               false, "status --watch": false, "status --watch=true": false,
		"status -w":      false,
		"-w status":      false,
		"status -wC dir": false, "-Cdir status": false, "status status": false, "run status": false, "task list": false,
		"-C status": false, "status -- -w": false, "resume": false, "demo": false,
	} {
		if got := cli.Brief(strings.Fields(line)); got != want {
			t.Errorf("Brief(%q) = %t", line, got)
		}
	}
}

package sandbox

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"pawl"
)

// LookPath finds a program in the folders of pawl's own PATH, as the commands behind the walls will see them. It starts
// nothing.
func LookPath(program string) (string, bool) {
	path, err := exec.LookPath(program)
	return path, err == nil
}

// Edit opens a file in the user's own editor ($VISUAL, $EDITOR, else vi) on the terminal, and returns when it was closed. It
// runs without walls, because the person at the keyboard starts and drives it. Without an editor the error is CodeEnvironment; one
// that fails is CodeCanceled.
func Edit(ctx context.Context, path string) error {
	argv := []string{"vi"}
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := strings.Fields(os.Getenv(name)); len(words) > 0 {
			argv = words
			break
		}
	}
	if _, ok := LookPath(argv[0]); !ok {
		return pawl.Fail(pawl.CodeEnvironment, "cli.no_editor", argv[0]).In("sandbox.Edit")
	}
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return pawl.Fail(pawl.CodeCanceled, "cli.editor_failed", argv[0]).Because(err).In("sandbox.Edit")
	}
	return nil
}

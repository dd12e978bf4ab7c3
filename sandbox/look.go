package sandbox

import (
	"context"
	"io"
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

// Edit opens a file in the user's own editor ($VISUAL, $EDITOR, else vi) on the terminal, and returns when it was
// closed. It runs without walls, because the person at the keyboard starts and drives it. Without an editor the error
// is CodeEnvironment; one that fails is CodeCanceled.
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

// Pager starts the user's own pager ($PAWL_PAGER, $GIT_PAGER, $PAGER, else less) on the terminal. What is written is
// shown, and Close waits until the person has left it; what is written after they left fails with EPIPE. Like an editor
// it runs without walls. Ok is false where there is none, or it is cat.
func Pager() (w io.WriteCloser, ok bool) {
	argv := []string{"less"}
	for _, name := range []string{"PAWL_PAGER", "GIT_PAGER", "PAGER"} {
		if v, set := os.LookupEnv(name); set {
			argv = strings.Fields(v)
			break
		}
	}
	if len(argv) == 0 || argv[0] == "cat" {
		return nil, false
	}
	if _, ok := LookPath(argv[0]); !ok {
		return nil, false
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		// as git does: end at once where all of it fits, keep colours, leave the screen as it is
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	return &pager{in, cmd}, err == nil
}

type pager struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// Close ends what is shown and waits for the person. How a pager ends means nothing.
func (p *pager) Close() error {
	err := p.WriteCloser.Close()
	_ = p.cmd.Wait()
	return err
}

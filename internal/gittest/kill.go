package gittest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"pawl/sandbox/git"
)

const (
	sceneVariable = "GITTEST_SCENE"
	dirVariable   = "GITTEST_DIR"
	stepVariable  = "GITTEST_STEP"
)

// Scene is something that a child process does in a folder until it is killed.
type Scene func(ctx context.Context, dir string) error

// play runs a scene and kills this process, as nothing inside it can prevent, at the step that was asked for.
func play(scene Scene) int {
	at, _ := strconv.Atoi(os.Getenv(stepVariable))
	n := 0
	ctx := git.Trace(context.Background(), func(string) {
		if n++; n == at {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			fmt.Fprintln(os.Stderr, "dying", err)
			select {}
		}
	})
	if err := scene(ctx, os.Getenv(dirVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// KillAt plays a scene in a process of its own and kills it at the n-th step that the scene takes (git.Trace). It reports
// whether the scene was that long.
func KillAt(t testing.TB, scene, dir string, n int) (killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), sceneVariable+"="+scene, dirVariable+"="+dir, stepVariable+"="+strconv.Itoa(n))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false
	case errors.As(err, &exit) && !exit.Exited():
		return true
	}
	t.Fatalf("scene %s: %v\n%s", scene, err, out)
	return false
}

// Copy copies a folder with its links, permissions and times.
func Copy(t testing.TB, from string) string {
	t.Helper()
	to := t.TempDir()
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	return to
}

// At is the repository in a folder that holds one already.
func At(t testing.TB, dir string) *Repo { return &Repo{t: t, Dir: dir} }

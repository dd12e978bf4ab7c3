package gittest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pawl/sandbox/git/program"
)

const (
	sceneVariable = "GITTEST_SCENE"
	dirVariable   = "GITTEST_DIR"
	stepVariable  = "GITTEST_STEP"
	allVariable   = "GITTEST_ALL"
)

// Scene is something that a child process does in a folder until it is killed.
type Scene func(ctx context.Context, dir string) error

// Trace returns a context under which step is called before every boundary that a crash could fall on
// (program.StepKey).
func Trace(ctx context.Context, step func(name string)) context.Context {
	return context.WithValue(ctx, program.StepKey{}, step)
}

// play runs a scene and kills this process, as nothing inside it can prevent, at the step that was asked for.
func play(scene Scene) int {
	at, _ := strconv.Atoi(os.Getenv(stepVariable))
	n := 0
	ctx := Trace(context.Background(), func(name string) {
		fmt.Println(name)
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

// KillAt plays a scene in a process of its own and kills it at the n-th step that the scene takes (Trace). It reports
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

// changing are the steps of Trace at which something that outlives the process changes.
var changing = []string{
	"lock index", "write journal", "git update-ref", "remove file", "write file", "git update-index", "install index",
	"git read-tree",
	"git worktree", "share index", "remove tree", "remove registration", "git commit-tree", "write object",
	"name object", "name reference", "write pack", "name pack", "name index",
}

// KillEverywhere plays a scene again and again, each time in a fresh copy of a folder, and kills it at another step;
// then after has the rest done and looks at the result. With GITTEST_ALL set it is every step, otherwise one of each
// kind around changes.
func KillEverywhere(t *testing.T, scene, template string, after func(t *testing.T, dir string)) {
	t.Helper()
	names := steps(t, scene, Copy(t, template))
	all := os.Getenv(allVariable) != ""
	killed, seen := 0, map[string]bool{}
	for i, name := range names {
		before := ""
		if i > 0 {
			before = names[i-1]
		}
		pair := before + ", " + name
		if !all && (seen[pair] || !slices.Contains(changing, name) && !slices.Contains(changing, before)) {
			continue
		}
		seen[pair] = true
		killed++
		dir := ""
		for range 10 {
			// What is remembered of a file goes by when it was written, so that a scene may now and then take another
			// way.
			if dir = Copy(t, template); KillAt(t, scene, dir, i+1) {
				break
			}
			dir = ""
		}
		if dir == "" {
			t.Fatalf("the scene ended before step %d, ten times", i+1)
		}
		t.Run(fmt.Sprintf("%d before %s", i+1, name), func(t *testing.T) { after(t, dir) })
	}
	if killed < 2 {
		t.Fatalf("the scene has only %d steps: %q", killed, names)
	}
}

// steps plays a scene to its end and returns the names of its steps.
func steps(t testing.TB, scene, dir string) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), sceneVariable+"="+scene, dirVariable+"="+dir, stepVariable+"=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("scene %s: %v", scene, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// KillBefore plays a scene and kills it before the first step of that name.
func KillBefore(t testing.TB, scene, dir, name string) {
	t.Helper()
	i := slices.Index(steps(t, scene, Copy(t, dir)), name)
	if i < 0 || !KillAt(t, scene, dir, i+1) {
		t.Fatalf("the scene has no step %q", name)
	}
}

// Thorough skips a test whose ground others cover in part, unless GITTEST_ALL is set.
func Thorough(t testing.TB) {
	t.Helper()
	if os.Getenv(allVariable) == "" {
		t.Skip("runs with " + allVariable + "=1")
	}
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

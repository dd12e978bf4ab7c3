package sandbox

import (
	"os/exec"
	"testing"
	"time"

	"pawl"
)

// forker starts processes for ever, also where it gets none.
func forker() {
	for {
		_ = exec.Command("sleep", "60").Start()
	}
}

// A command that uses up what it is given is ended, or fails, with the reason, whoever pawl is and whether there are
// cgroups or not; one that stays below is left alone. Nothing of it is left.
func TestBombsEndWithTheReason(t *testing.T) {
	limits := Limits{Memory: 300 << 20, Processes: 120, Disk: 60 << 20, Files: 3000}
	for _, c := range []struct{ name, script, want string }{
		{"memory", `x=aaaaaaaa; while :; do x=$x$x; done`, "memory"},
		{"memory of many", `for i in 1 2 3 4 5 6 7 8; do (x=aaaaaaaa; while [ ${#x} -lt 60000000 ]; do x=$x$x; done; sleep 20) & done; wait`, "memory"},
		{"processes", `"$SELF"`, "processes"},
		{"sleepers", `i=0; while [ $i -lt 2000 ]; do sleep 60 & i=$((i+1)); done 2>/dev/null; sleep 60`, "processes"},
		{"disk", `i=0; while [ $i -lt 400 ]; do head -c 4m /dev/urandom >f$i || exit; i=$((i+1)); done; sleep 60`, "disk"},
		{"deleted", `exec 7>f; rm f; while :; do head -c 4m /dev/urandom >&7; done`, "disk"},
		{"files", `mkdir d; i=0; while [ $i -lt 200000 ]; do : >d/$i; i=$((i+1)); done`, "files"},
		{"sparse", `truncate -s 100G f && echo made; exit 153`, "file"},
		{"tmp", `head -c 2G /dev/zero >"$TMPDIR/f"`, "scratch"},
		{"ordinary", `head -c 20m /dev/zero >f; i=0; while [ $i -lt 30 ]; do sleep 0.5 & i=$((i+1)); done; wait; mkdir d; i=0; while [ $i -lt 500 ]; do : >d/$i; i=$((i+1)); done; echo done`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			mechanisms(t, func(t *testing.T, m Mechanism) {
				if c.name == "tmp" && m.bare() {
					return // it is a folder of the disk there
				}
				b := box(t, Options{Mechanism: m, Limits: limits})
				s := self(t, "forker")
				s.Env, s.Argv = append(s.Env, "SELF="+s.Argv[0]), []string{"sh", "-c", c.script}
				s.Timeout = 40 * time.Second
				res, err := b.Run(t.Context(), s)
				if err != nil || res.Limit != c.want || res.TimedOut || res.Canceled || c.want == "" && res.Exit != 0 {
					t.Errorf("%v: limit %q, exit %d %s, timed out %t, after %v: %.300s", err, res.Limit, res.Exit, res.Signal, res.TimedOut, res.Duration, res.Output)
				}
				if over := res.Over(); (c.want != "") != (pawl.CodeOf(over) == pawl.CodeBuildFail) {
					t.Error(over)
				}
			})
		})
	}
}

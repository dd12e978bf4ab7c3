package doctor

import (
	"slices"
	"strings"
	"testing"

	"pawl/sandbox"
	"pawl/sandbox/cause"
	"pawl/text/message"
)

// Each machine is told what holds its commands, why it is not more, and what is weaker; each text exists in full.
func TestWallsAreExplained(t *testing.T) {
	ok := sandbox.Wall{OK: true}
	full := sandbox.Walls{Namespaces: ok, Floor: ok, Landlock: ok, Seccomp: ok, Cgroup: ok}
	floor := sandbox.Walls{Floor: ok, Landlock: ok, Seccomp: ok,
		Cause: cause.Cause{Kind: cause.AppArmor, Name: "a", Value: "1"}}
	none := sandbox.Walls{Cause: cause.Cause{Kind: cause.Sysctl, Name: "user.max_user_namespaces", Value: "0"}}
	outer := sandbox.Walls{Outer: true, Cause: cause.Cause{Kind: cause.Seccomp, Name: "docker"}}
	limit := sandbox.Walls{Bubblewrap: ok, Seccomp: ok, Cause: cause.Cause{Kind: cause.Limit, Name: "x", Value: "9"}}
	odd := sandbox.Walls{Bubblewrap: ok, Seccomp: ok, Cause: cause.Cause{Kind: cause.Unknown}}
	for name, c := range map[string]struct {
		walls  sandbox.Walls
		state  State
		key    string
		cause  string
		weaker []string
	}{
		"everything": {full, OK, "cli.doctor_walls", "", nil},
		"the floor": {floor, Warn, "cli.doctor_floor", "sandbox.cause_apparmor",
			sandbox.Weaker([]string{"landlock", "seccomp"})},
		"nothing":      {none, Fail, "cli.doctor_no_walls", "sandbox.cause_sysctl", nil},
		"outer":        {outer, Warn, "cli.doctor_outer", "sandbox.cause_seccomp", sandbox.Weaker([]string{"outer"})},
		"bubblewrap":   {limit, OK, "cli.doctor_walls", "sandbox.cause_limit", nil},
		"unexplained":  {odd, OK, "cli.doctor_walls", "sandbox.cause_unknown", nil},
		"other system": {sandbox.Walls{}, Fail, "cli.doctor_no_walls", "", nil},
	} {
		found := walls(c.walls)
		if found[0].State != c.state || found[0].Key != c.key {
			t.Errorf("%s: %+v", name, found[0])
		}
		why := ""
		var weaker []string
		for _, f := range found {
			e, known := message.Lookup(f.Key)
			if want := strings.Count(e.En, "%"); !known || e.Zh == "" || strings.Contains(e.En, "%[3]s") &&
				len(f.Args) < 3 || want == 0 && len(f.Args) > 0 {
				t.Errorf("%s: %+v", name, f)
			}
			if weak, ok := strings.CutPrefix(f.Key, "sandbox.weak_"); ok {
				weaker = append(weaker, weak)
			}
			if strings.HasPrefix(f.Key, "sandbox.cause_") {
				why = f.Key
			}
		}
		if why != c.cause || !slices.Equal(weaker, c.weaker) {
			t.Errorf("%s: %q %q", name, why, weaker)
		}
	}
}

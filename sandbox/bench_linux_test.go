package sandbox

import (
	"os/exec"
	"testing"
	"time"
)

// BenchmarkRun is a command as a run of pawl meets it: a while after the one before. Without the pause the kernel is
// still in the state that the command before has brought about, in which moving processes between cgroups costs
// nothing.
func BenchmarkRun(b *testing.B) {
	for _, o := range []Options{
		{Mechanism: MechanismNamespaces}, {Mechanism: MechanismNamespaces,
			Ready: true}, {Mechanism: MechanismBubblewrap},
		{Mechanism: MechanismLandlock}, {Mechanism: MechanismLandlock, Ready: true},
	} {
		name := string(o.Mechanism)
		if o.Ready {
			name += " ready"
		}
		b.Run(name, func(b *testing.B) {
			x := box(b, o)
			s := spec(b, "")
			s.Argv = []string{"/bin/true"}
			run(b, x, s)
			for b.Loop() {
				b.StopTimer()
				time.Sleep(100 * time.Millisecond)
				b.StartTimer()
				run(b, x, s)
			}
		})
	}
	b.Run("bwrap alone", func(b *testing.B) {
		bare := func() {
			if out, err := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
				"/bin/true").CombinedOutput(); err != nil {
				b.Fatalf("%v %s", err, out)
			}
		}
		bare()
		for b.Loop() {
			b.StopTimer()
			time.Sleep(100 * time.Millisecond)
			b.StartTimer()
			bare()
		}
	})
}

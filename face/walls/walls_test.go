package walls

import (
	"slices"
	"testing"

	"pawl/face/cli/settings"
	"pawl/sandbox"
)

// What holds commands, what they may read and use is what the settings say.
func TestSettingsChooseTheWalls(t *testing.T) {
	for isolation, want := range map[string]sandbox.Mechanism{"": "", settings.Bubblewrap: sandbox.MechanismBubblewrap,
		settings.Outer: sandbox.MechanismOuter} {
		if got := Of(settings.Config{Isolation: isolation}, "/ws").Mechanism; got != want {
			t.Errorf("%q: %q", isolation, got)
		}
	}
	o := Of(settings.Config{Readable: []string{"/srv/data", "../lib"}, Memory: 5, Processes: 6, Disk: 7, Files: 8}, "/w/s")
	if !slices.Equal(o.Readable, []string{"/srv/data", "/w/lib"}) {
		t.Error(o.Readable)
	}
	if o.Limits != (sandbox.Limits{Memory: 5 << 20, Processes: 6, Disk: 7 << 20, Files: 8}) {
		t.Error(o.Limits)
	}
	if o := Of(settings.Config{Readable: []string{"../lib"}}, ""); len(o.Readable) > 0 {
		t.Error(o.Readable)
	}
}

package git

import "testing"

// Only of a folder are the hooks run by this machine, so nothing that git takes for one may count as a host.
func TestAddressesOnDisk(t *testing.T) {
	for url, want := range map[string]bool{
		"r.git": true, "/srv/r.git": true, "./a:b": true, "a/b://c": true, "~/r.git": true, "file:///srv/r.git": true,
		"file://srv/r.git": true,
		"host:r.git":       false, "git@host:a/b": false, "ssh://host/r": false, "https://host/r": false,
	} {
		if got := onDisk(url); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
}

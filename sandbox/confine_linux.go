package sandbox

import (
	"os"

	"pawl/sandbox/landlock"
)

// landlock takes the calling thread into a domain in which only the writable paths of the layout, /dev and /proc can be
// written to. It reports false where the kernel has no Landlock: the mounts hold without it.
func (o *order) landlock() (bool, error) {
	abi := landlock.ABI()
	if abi == 0 {
		return false, nil
	}
	rules, err := landlock.New(abi, false)
	if err != nil {
		return false, err
	}
	defer rules.Close()
	type rule struct {
		path   string
		rights uint64
	}
	grants := []rule{{"/", landlock.Read}, {"/dev", landlock.Device}, {"/dev/shm", landlock.Write}, {"/proc", landlock.Proc}}
	for _, m := range o.mounts {
		if m.kind == mountWrite || m.kind == mountScratch {
			grants = append(grants, rule{m.path, landlock.Write})
		}
	}
	for _, g := range grants {
		if err := rules.GrantPath(g.path, g.rights); err != nil {
			return false, &os.PathError{Op: "grant", Path: g.path, Err: err}
		}
	}
	return true, rules.Restrict()
}

package mediate

// Older forms of the calls that change times, which this architecture does not have.
const (
	utime     = ^uintptr(0)
	futimesat = ^uintptr(0) - 1
)

// modern returns a call as it is: this architecture has no older forms.
func modern(nr uintptr, a [6]uint64) (uintptr, [6]uint64) { return nr, a }

//go:build !linux

package sqlite

// bell is one that never rings.
type bell struct{}

func newBell(string) bell           { return bell{} }
func (bell) set() bool              { return false }
func (bell) rings() <-chan struct{} { return nil }
func (bell) close()                 {}

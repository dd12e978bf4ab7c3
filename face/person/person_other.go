//go:build !linux

package person

import "golang.org/x/term"

// ancestors are not told on this system: the variables of agents and the terminal have to do.
func ancestors() []process { return nil }

// foreground reports whether a descriptor is a terminal.
func foreground(fd int) bool { return term.IsTerminal(fd) }

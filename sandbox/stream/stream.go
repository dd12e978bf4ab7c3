// Package stream opens the standard streams of a command so that no other process can write to them.
package stream

import "os"

// Three opens the input, the output and the errors of a command, each with its reader before its writer. A process of
// the same user can open a pipe of another one by its name below /proc and write to it. Input and output are sockets,
// which nobody can open. Errors are a pipe: scripts open /dev/stderr, and nothing depends on who writes there.
func Three() (ends [6]*os.File, err error) {
	for i := 0; i < len(ends) && err == nil; i += 2 {
		if i < 4 {
			ends[i], ends[i+1], err = private(1 - i/2)
		} else {
			ends[i], ends[i+1], err = os.Pipe()
		}
	}
	if err != nil {
		for _, f := range ends {
			_ = f.Close() // nil for what was not opened
		}
	}
	return ends, err
}

package sandbox

import "os/exec"

// LookPath finds a program in the folders of pawl's own PATH, as the commands behind the walls will see them. It starts
// nothing.
func LookPath(program string) (string, bool) {
	path, err := exec.LookPath(program)
	return path, err == nil
}

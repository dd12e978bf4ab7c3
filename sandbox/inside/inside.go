// Package inside looks through a folder that a command may write to and that others have filled, before the command
// starts. It finds files that hold secrets, and files that have a name outside of the folder as well, such as those
// that package managers link from a store which all projects share: writing to them would change what is outside.
package inside

// Found is what there is in a folder.
type Found struct {
	// Secrets are the files that commands must not read.
	Secrets []string
	// Shared are folders of dependencies with so many files that have names outside that these were left as they are.
	Shared []string
	// Repositories are the git directories below the folder.
	Repositories []string
}

// Error is a file that could not be parted from its names outside.
type Error struct {
	Path string
	Err  error
}

// Error names the file and the reason.
func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// dependencies are the names of folders in which packages lie.
var dependencies = []string{
	"node_modules", "bower_components", ".venv", "venv", ".tox", ".nox", "__pypackages__", "vendor", "target", "Pods",
	".gradle", ".pnpm-store", ".yarn",
}

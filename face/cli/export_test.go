package cli

import (
	"github.com/spf13/cobra"

	"pawl/face/host"
)

// TreeOf builds every command for a command line on streams, those of other packages included.
func TreeOf(std host.Streams, args []string, more ...Entry) *cobra.Command {
	a := newApp(nil, std, args)
	a.more = more
	return newRoot(a)
}

// Groups are the groups of the help.
func Groups() []string { return groups() }

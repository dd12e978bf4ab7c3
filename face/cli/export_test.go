package cli

import "github.com/spf13/cobra"

// TreeOf builds every command for a command line on streams, those of other packages included.
func TreeOf(std Streams, args []string, more ...Entry) *cobra.Command {
	a := newApp(nil, std, args)
	a.more = more
	return newRoot(a)
}

// Groups are the groups of the help.
func Groups() []string { return groups() }

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

// Settings are the rows of the table of settings: name, value that counts where nothing is set, variable.
func Settings() (rows [][3]any) {
	c := DefaultConfig()
	for _, s := range settings() {
		rows = append(rows, [3]any{s.name, s.get(&c), s.env()})
	}
	return rows
}

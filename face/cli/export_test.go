package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"pawl/text/message"
)

// TreeOf builds every command for a command line on streams, those of other packages included.
func TreeOf(std Streams, args []string, more ...Entry) *cobra.Command {
	a := newApp(nil, std, args)
	a.more = more
	return newRoot(a)
}

// Groups are the groups of the help.
func Groups() []string { return groups() }

// Settings are the rows of the table of settings in a language: name, value that counts where nothing is set, variable, meaning.
func Settings(l message.Lang) (rows [][4]any) {
	c := DefaultConfig()
	for _, s := range settings() {
		rows = append(rows, [4]any{s.name, s.get(&c), s.env(), s.meaning(&Printer{Lang: l})})
	}
	for _, name := range []string{
		"agents.x.login", "agents.x.way", "agents.x.base_url", "agents.x.model", "agents.x.trust", "mcp.servers.x.command", "mcp.servers.x.env.Y",
		"mcp.servers.x.network", "mcp.servers.x.url", "mcp.servers.x.key_env", "mcp.servers.x.key_file", "mcp.servers.x.digest",
	} {
		s, ok := findSetting(name)
		if !ok {
			panic(name)
		}
		name = strings.NewReplacer(".x.", ".NAME.", ".Y", ".VARIABLE").Replace(name)
		rows = append(rows, [4]any{name, s.get(&c), "", s.meaning(&Printer{Lang: l})})
	}
	return rows
}

package complete

import (
	"strings"

	"github.com/spf13/cobra"

	"pawl/face/cli"
)

func newCompletionCommand(a *cli.App) *cobra.Command {
	c := a.Command("completion SHELL", "cli.completion",
		"  pawl completion bash > /etc/bash_completion.d/pawl\n  pawl completion zsh > \"${fpath[1]}/_pawl\"",
		cli.Exactly(1), nil)
	c.ValidArgs = []string{"bash", "zsh", "fish", "powershell"}
	c.RunE = func(c *cobra.Command, args []string) error {
		root := c.Root()
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(a.Std.Out, true)
		case "zsh":
			return root.GenZshCompletion(a.Std.Out)
		case "fish":
			return root.GenFishCompletion(a.Std.Out, true)
		case "powershell":
			return root.GenPowerShellCompletionWithDesc(a.Std.Out)
		}
		return cli.Usage("cli.flag_invalid", args[0], "SHELL", strings.Join(c.ValidArgs, "|"))
	}
	return c
}

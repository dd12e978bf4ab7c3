// Package toolbox is the table of pawl's own tools.
package toolbox

import (
	"pawl/driver/file"
	"pawl/driver/search"
	"pawl/driver/shell"
	"pawl/driver/tool"
)

// All returns the tools in the order in which they are shown. Commands are run with c.
func All(c shell.Config) []tool.Tool {
	return []tool.Tool{
		file.Read(),
		search.List(),
		search.Glob(),
		search.Grep(),
		file.Patch(nil),
		file.Write(nil),
		file.Delete(nil),
		shell.Command(c),
	}
}

// Package commands names the commands that there are, each brought by its room.
package commands

import (
	"slices"

	"pawl/face/cli"
	"pawl/face/cli/agents"
	"pawl/face/cli/answers"
	"pawl/face/cli/auditlog"
	"pawl/face/cli/board"
	"pawl/face/cli/control"
	"pawl/face/cli/flow"
	"pawl/face/cli/inspect"
	"pawl/face/cli/machines"
	"pawl/face/cli/notifying"
	"pawl/face/cli/orders"
	"pawl/face/cli/policies"
	"pawl/face/cli/servers"
	"pawl/face/cli/serving"
	"pawl/face/cli/setup"
	"pawl/face/cli/skills"
	"pawl/face/cli/tasks"
)

// Entries are the commands of the first level, but for those that are about the tree of commands itself: completion and
// manual.
func Entries() []cli.Entry {
	return slices.Concat(
		orders.Entries(), board.Entries(), flow.Entries(), skills.Entries(), agents.Entries(), inspect.Entries(),
		answers.Entries(), control.Entries(), tasks.Entries(), machines.Entries(), auditlog.Entries(),
		policies.Entries(), servers.Entries(), serving.Entries(), notifying.Entries(),
		setup.Entries(),
	)
}

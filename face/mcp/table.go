package mcp

import (
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"sync"
)

// Descriptions of arguments are keys of the catalogue until a tool is registered.
func taskArg() effect.Field {
	return effect.Field{Name: "task", Type: effect.String, Min: 1, Max: 64, About: "mcp.arg.task"}
}

func pageArgs(states []string) effect.Object {
	return effect.Object{
		{Name: "state", Type: effect.String, Enum: states, About: "mcp.arg.state"},
		{Name: "limit", Type: effect.Integer, Min: 1, Max: maxListed, About: "mcp.arg.limit"},
		{Name: "after", Type: effect.Integer, Min: 1, Max: 1 << 53, About: "mcp.arg.after"},
		{Name: "newest", Type: effect.Boolean, About: "mcp.arg.newest"},
	}
}

func reading[T any](name, about string, args effect.Object, f handler[T]) tool {
	return tool{name: name, about: about, args: args, reads: true, call: typed(args, f)}
}

func writing[T any](name, about string, args effect.Object, f handler[T]) tool {
	return tool{name: name, about: about, args: args, call: typed(args, f)}
}

// tools are all tools, those that read first.
func (s *Server) tools() []tool {
	text := func(name, about string, required bool, most int64) effect.Field {
		return effect.Field{Name: name, Type: effect.String, Required: required, Min: 1, Max: most, About: about}
	}
	wait := effect.Field{Name: "wait", Type: effect.Integer, Min: 0, Max: maxWait, About: "mcp.arg.wait"}
	read := readTools{&s.Config}
	write := writeTools{read, &sync.Mutex{}}
	return []tool{
		reading("get_status", "mcp.tool.get_status", nil, read.getStatus),
		reading("get_plan", "mcp.tool.get_plan", nil, read.getPlan),
		reading("get_summary", "mcp.tool.get_summary", nil, read.getSummary),
		reading("read_context", "mcp.tool.read_context", nil, read.readContext),
		reading("list_tasks", "mcp.tool.list_tasks", pageArgs(taskStates()), read.listTasks),
		reading("get_task", "mcp.tool.get_task", effect.Object{taskArg()}, read.getTask),
		reading("list_issues", "mcp.tool.list_issues", pageArgs(issueStates()), read.listIssues),
		reading("get_issue", "mcp.tool.get_issue", effect.Object{text("issue", "mcp.arg.issue", true, 64)},
			read.getIssue),
		reading("read_audit", "mcp.tool.read_audit", effect.Object{
			taskArg(), {Name: "limit", Type: effect.Integer, Min: 1, Max: maxListed, About: "mcp.arg.limit"},
		}, read.readAudit),
		reading("get_answer", "mcp.tool.get_answer", effect.Object{text("question", "mcp.arg.question_id", true, 64),
			wait}, write.getAnswer),
		writing("update_progress", "mcp.tool.update_progress", effect.Object{
			taskArg(), {Name: "task_id", Type: effect.String, Min: 1, Max: 64, About: "mcp.arg.task"},
			{Name: "status", Type: effect.String, Enum: []string{"PENDING", "DONE", "BLOCKED"},
				About: "mcp.arg.status"},
			text("summary", "mcp.arg.summary", true, maxSummary),
		}, write.updateProgress),
		writing("record_error", "mcp.tool.record_error", effect.Object{
			text("error_type", "mcp.arg.error_type", true, 200), text("root_cause", "mcp.arg.root_cause", true,
				maxNote),
			text("fix_solution", "mcp.arg.fix_solution", true, maxNote), text("scope", "mcp.arg.scope", false, 1000),
		}, write.recordError),
		writing("save_decision", "mcp.tool.save_decision", effect.Object{
			{Name: "decision_type", Type: effect.String, Required: true, Enum: view.DecisionTypes(),
				About: "mcp.arg.decision_type"},
			text("content", "mcp.arg.content", true, maxNote), text("replaces", "mcp.arg.replaces", false, 64),
		}, write.saveDecision),
		writing("ask_human", "mcp.tool.ask_human",
			effect.Object{text("question", "mcp.arg.question", true, maxQuestion), wait}, write.askHuman),
		writing("propose_plan", "mcp.tool.propose_plan", effect.Object{
			text("plan", "mcp.arg.plan", true, maxProposal), text("requirement", "mcp.arg.requirement", false,
				maxSummary),
		}, write.proposePlan),
	}
}

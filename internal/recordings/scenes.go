//go:build linux

package main

import "time"

// scene is what one film shows.
type scene struct {
	name, title string
	files       map[string]string // in the folder, executable
	before      []string          // commands that nobody sees
	steps       []step
}

// step is something that is typed. What it answers is waited for, and then looked at.
type step struct {
	keys string // before Enter
	sees string // the text that ends it; "" is the next prompt
	look time.Duration
}

const read = 2 * time.Second

var repository = []string{"git init -q -b main && git add -A && git commit -q -m 'A sum'"}

// scenes are all films.
var scenes = []scene{
	{
		name: "first-run", title: "pawl in a repository: what is green, a plan, one approval, the proof, and the way back",
		files:  sum,
		before: repository,
		steps: []step{
			{keys: "pawl check", look: read},
			{keys: "clear; pawl plan new plan.yaml", look: read},
			{keys: "pawl run --plan plan.yaml", sees: "?", look: 2 * read},
			{keys: "y", look: read},
			{keys: "clear; pawl show", look: 2 * read},
			{keys: "pawl undo", look: read},
		},
	},
	{
		name: "demo", title: "pawl demo: a lie is caught, kill -9, resume, a repair, the proof, and undo",
		steps: []step{{keys: "pawl demo tour", look: read}},
	},
	{
		name: "board", title: "A board: two issues, two workers, each in a worktree of its own, landed one after the other",
		files:  board,
		before: repository,
		steps: []step{
			{keys: `pawl issue add "Say what it is for" --plan ../plans/readme.yaml`, look: read},
			{keys: `pawl issue add "Show how it is used" --plan ../plans/usage.yaml`, look: read},
			{keys: "clear; pawl issue list", look: read},
			{keys: "pawl worker --workers 2 --yes", look: read},
			{keys: "clear; pawl log", look: read},
			{keys: "git log --oneline --stat", look: 2 * read},
		},
	},
}

// sum is a project in a shell's language, with a test.
var sum = map[string]string{
	"sum.sh":  "#!/bin/sh\n# Prints the sum of its arguments.\ns=0\nfor n; do s=$((s + n)); done\necho \"$s\"\n",
	"test.sh": "#!/bin/sh\nset -e\ntest \"$(sh sum.sh 1 2)\" = 3\ntest \"$(sh sum.sh 5)\" = 5\n",
}

// board is the same project, with a plan for each of two issues beside it.
var board = map[string]string{
	"sum.sh": sum["sum.sh"], "test.sh": sum["test.sh"],
	"../plans/readme.yaml": plan("Say what it is for", "README.md", "# sum\\n\\nsh sum.sh 1 2 prints 3.\\n",
		"grep -q sum README.md"),
	"../plans/usage.yaml": plan("Show how it is used", "USAGE.md", "sh sum.sh NUMBER...\\n",
		"grep -q NUMBER USAGE.md"),
}

// plan is a plan that writes one file.
func plan(goal, file, content, check string) string {
	return `goal: ` + goal + `
risk_level: low
steps:
  - step_id: s1
    title: ` + goal + `
    intent: Whoever finds it should know
    tool_calls:
      - name: write_file
        args_hint: {path: ` + file + `, content: "` + content + `"}
verification: {mode: test, commands: ["` + check + `"], required: true, stop_on_fail: true}
`
}

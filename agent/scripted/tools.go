package scripted

import (
	"encoding/json"
	"regexp"
	"slices"
	"sync"

	"pawl/text/shell"
)

// tool is a tool that a request offers.
type tool struct {
	Name     string
	Space    string // the namespace that it is offered in
	Schema   schema
	Freeform bool
}

type schema struct {
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
	Required []string `json:"required"`
}

// asked is a call in the words of one request.
type asked struct {
	Name     string
	Args     string
	Space    string
	Freeform bool
}

// The names under which agents offer what the script wants to do, best first.
var (
	writers = []string{"write_file", "Write", "write", "write_to_file", "create_new_file"}
	readers = []string{"read_file", "Read", "read"}
	shells  = []string{"run_terminal_cmd", "exec_command", "shell", "local_shell", "Bash", "bash", "run_shell_command",
		"run_terminal_command", "execute_command", "run_commands", orchestra}
)

// orchestra takes a program in JavaScript that calls the agent's other tools.
const orchestra = "exec"

// roots finds the folder that an agent works in, which it tells its model: the worktree that pawl made for it.
var roots = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/[^\s"'\\\\<>]*/worktrees/[0-9A-Z]{26}`) })

// find returns the first offered tool of a list of names.
func find(offered []tool, names []string) (tool, bool) {
	for _, n := range names {
		if i := slices.IndexFunc(offered, func(t tool) bool { return t.Name == n }); i >= 0 {
			return offered[i], true
		}
	}
	return tool{}, false
}

// in says a call in the words of the request's tools. A call that no tool can do is asked for by its first name all the
// same, as a confused model would.
func (c Call) in(offered []tool, root string) asked {
	switch {
	case c.Name != "":
		return asked{Name: c.Name, Args: c.Args}
	case c.Write != "":
		if t, ok := find(offered, writers); ok {
			return t.call(map[string]string{"path": c.Write, "content": c.Content}, root)
		}
		if t, ok := find(offered, shells); ok {
			return t.call(map[string]string{"command": "cat > " + shell.Quote(c.Write) + " <<'EOF_SCRIPTED'\n" +
				c.Content + "EOF_SCRIPTED\n"}, root)
		}
		return asked{Name: writers[0], Args: encode(map[string]string{"path": c.Write, "content": c.Content})}
	case c.Read != "":
		if t, ok := find(offered, readers); ok {
			return t.call(map[string]string{"path": c.Read}, root)
		}
		if t, ok := find(offered, shells); ok {
			return t.call(map[string]string{"command": "cat " + shell.Quote(c.Read)}, root)
		}
		return asked{Name: readers[0], Args: encode(map[string]string{"path": c.Read})}
	}
	t, ok := find(offered, shells)
	if !ok {
		return asked{Name: shells[0], Args: encode(map[string]string{"command": c.Run})}
	}
	return t.call(map[string]string{"command": c.Run}, root)
}

// spellings are the names under which tools take the same argument.
var spellings = map[string][]string{
	"path":    {"path", "file_path", "filePath", "filepath", "absolute_path"},
	"content": {"content", "contents", "text"},
	"command": {"command", "cmd", "commands"},
}

// call writes the arguments as the tool's schema wants them, and fills what else is required with something harmless.
func (t tool) call(args map[string]string, root string) asked {
	if t.Name == orchestra && t.Freeform {
		program := "const r = await tools.exec_command({cmd: " + encode(args["command"]) + "}); text(r);"
		return asked{Name: t.Name, Args: program, Space: t.Space, Freeform: true}
	}
	out := map[string]any{}
	for want, value := range args {
		name := want
		for _, s := range spellings[want] {
			if _, ok := t.Schema.Properties[s]; ok {
				name = s
				break
			}
		}
		// Tools that call it "path" take it from the working directory; the others want the whole of it.
		if want == "path" && name != want && root != "" {
			value = root + "/" + value
		}
		out[name] = value
		if kind, _ := t.Schema.Properties[name].Type.(string); kind == "array" {
			out[name] = []string{"bash", "-c", value}
			if name == "commands" {
				out[name] = []string{value}
			}
		}
	}
	for _, r := range t.Schema.Required {
		if _, ok := out[r]; ok {
			continue
		}
		switch kind, _ := t.Schema.Properties[r].Type.(string); kind {
		case "boolean":
			out[r] = false
		case "number", "integer":
			out[r] = 1
		case "array":
			out[r] = []any{}
		case "object":
			out[r] = map[string]any{}
		default:
			out[r] = "scripted"
		}
	}
	return asked{Name: t.Name, Args: encode(out), Freeform: t.Freeform}
}

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and maps of them always encode
	}
	return string(raw)
}

package drivertest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl/driver/shell"
	"pawl/driver/toolbox"
	"pawl/text/message"
)

var update = flag.Bool("update", false, "write the generated files")

type schema struct {
	Type        string
	Description string
	Enum        []string
	Required    []string
	Properties  map[string]schema
	Items       *schema
	Minimum     *int64
	Maximum     *int64
	MaxLength   *int64
}

func (s schema) typeName() string {
	out := s.Type
	if s.Items != nil {
		out += " of " + s.Items.Type
	}
	if s.Minimum != nil {
		out += fmt.Sprintf(", %d to %d", *s.Minimum, *s.Maximum)
	}
	if s.MaxLength != nil {
		out += fmt.Sprintf(", at most %d bytes", *s.MaxLength)
	}
	if s.Enum != nil {
		out += ": " + strings.Join(s.Enum, ", ")
	}
	return out
}

func table(b *strings.Builder, prefix string, s schema) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		need := ""
		if slices.Contains(s.Required, name) {
			need = "yes"
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s | %s |\n", prefix, name, p.typeName(), need,
			strings.ReplaceAll(p.Description, "|", `\|`))
		if p.Items != nil && p.Items.Properties != nil {
			table(b, prefix+name+"[].", *p.Items)
		}
	}
}

func parse(t *testing.T, raw json.RawMessage) schema {
	t.Helper()
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

const preface = `# Tools

Generated from the tools' own descriptions by ` + "`go test ./driver/drivertest -update`" + `. Arguments are one JSON object of at
most 10 MiB. Members that are not listed, members given twice or in another case, nulls and wrong types are refused with
` + "`E_INVALID_ARGS`" + `. Paths are relative to the workspace, separated by slashes; tools follow no symbolic links.

A tool that writes is called in two steps. The first computes what every file will hold and keeps an image of it: hashes before
and after, modes, and the inverse patch. The second writes. So a call that was interrupted is finished rather than repeated,
it changes all of its files or none, and it can be undone as long as nobody else has changed the files.

## What agents are not to see

Files named .pawlignore, in the project's folder and in folders below it, name what agents are not to see, in the syntax of
.gitignore. The deepest file that has a matching pattern decides, in it the last such pattern, and nothing below a hidden folder
can be shown again. .gitignore is another matter: neither takes back what the other leaves out.

| who | sees what is hidden |
|---|---|
| context packs, the knowledge base | no: neither text nor names |
| list_dir, glob_file_search, grep | no; a hidden folder or file that is named is refused |
| read_file, apply_patch, write_file, delete_file | refused, whoever made the plan: a file that is not seen is not overwritten either |
| installed agents and MCP servers | behind namespaces hidden files are empty, and so are hidden folders, in a worktree and in the project around it; where a machine cannot hide them from an agent that may write there, the agent is not started. At most 1000 paths: name folders |
| commands that agents have run (run_terminal_cmd) | yes: they need what the project needs, and so does their output |
| checks, gates, tests, ~review, git, what you look at | yes |

So it keeps files out of what models are told by themselves; a command that prints a file still prints it. A secret does not belong
into a folder that agents work in.

What the checkout says counts in worktrees as well, so nothing is shown because a command took it out of a worktree's file, and a
change of a .pawlignore is asked for. A .pawlignore that is a link, no text, or larger than 64 KiB or 1000 patterns hides its
whole folder until it is mended. A hard link under another name, and what stands in the history of git, are not hidden.

## Patches

` + "`apply_patch`" + ` takes two formats. A unified diff, as git or diff write it, is applied strictly: names, line numbers, counts and
context must be right. The other format finds its place by content:

` + "```" + `
*** Begin Patch
*** Add File: docs/new.md
+every line of a new file begins with a plus
*** Update File: cmd/main.go
*** Move to: cmd/app/main.go
@@ func main() {
 	context line
-	removed line
+	added line
*** Delete File: old.txt
*** End Patch
` + "```" + `

The text behind ` + "`@@`" + ` is a line to go past before the hunk is looked for; it may be left out. A hunk is found exactly, else
without regard to white space at the ends of lines, else at their beginnings too; always at the first place behind the hunk
before it. ` + "`*** End of File`" + ` behind a hunk means that it stands at the end. Context lines keep the file's own bytes, and added
lines get the line ending that most lines of the file have.
`

func TestDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString(preface)
	for _, tool := range toolbox.All(shell.Config{}) {
		info := tool.Info()
		permissions := make([]string, len(info.Permissions))
		for i, p := range info.Permissions {
			permissions[i] = "`" + string(p) + "`"
		}
		repeat := "never repeated without need"
		if info.Idempotent {
			repeat = "idempotent"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nVersion %s · %s · %s · %d s", info.Name, info.Description, info.Version,
			strings.Join(permissions, " "), repeat, info.DefaultTimeMS/1000)
		for _, s := range info.SideEffects {
			b.WriteString(" · " + s)
		}
		b.WriteString("\n\n| argument | type | required | |\n|---|---|---|---|\n")
		table(&b, "", parse(t, info.ArgsSchema))
		b.WriteString("\n| result | type | always | |\n|---|---|---|---|\n")
		table(&b, "", parse(t, info.ReturnSchema))
	}
	name := filepath.Join("..", "..", "docs", "tools.md")
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(have, []byte(b.String())) {
		t.Errorf("docs/tools.md is not what the tools say (%v): run go test ./driver/drivertest -update", err)
	}
}

// TestMessages: every message that the tools can raise is in the catalogue, in both languages and with a next step.
func TestMessages(t *testing.T) {
	all, err := filepath.Glob(filepath.Join("..", "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{} // by the package that they are of
	declares := map[string]bool{}  // whether the package has a tool
	for _, name := range all {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		room := filepath.Base(filepath.Dir(name))
		files[room] = append(files[room], name)
		declares[room] = declares[room] || bytes.Contains(data, []byte("tool.Declaration["))
	}
	maps.DeleteFunc(declares, func(_ string, has bool) bool { return !has })
	if !declares["file"] || !declares["search"] || !declares["shell"] {
		t.Fatalf("tools are declared in %v", declares)
	}
	rooms := slices.Sorted(maps.Keys(declares))
	sources := []string{filepath.Join("..", "..", "kernel", "effect", "args.go")}
	for _, room := range rooms {
		sources = append(sources, files[room]...)
	}
	ops := regexp.MustCompile(`\.In\("[^"]*"\)`)
	keys := regexp.MustCompile(`"((?:` + strings.Join(rooms, "|") + `)\.[a-z_]+)"`)
	used := map[string]bool{}
	for _, name := range sources {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range keys.FindAllStringSubmatch(ops.ReplaceAllString(string(data), ""), -1) {
			used[m[1]] = true
			e, ok := message.Lookup(m[1])
			if !ok || e.En == "" || e.Zh == "" || e.HintEn == "" || e.HintZh == "" {
				t.Errorf("%s: incomplete in the catalogue", m[1])
			}
		}
	}
	for _, key := range message.Keys() {
		if keys.MatchString(`"`+key+`"`) && !used[key] {
			t.Errorf("%s: nobody raises it", key)
		}
	}
}

package parity

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/net/html"

	"pawl/kernel/issues"
	"pawl/kernel/planning"
)

// cell is what stands in a cell of the table of questions.
var cell = regexp.MustCompile("`([^`]+)`")

// TestTheTableOfQuestions holds the table of docs/api.md to what there is: each command, path, tool and page that it names
// is there, and every path and tool that is asked, and every page of the menu, stands in it.
func TestTheTableOfQuestions(t *testing.T) {
	l := newLab(t, &atlas{states: map[string]map[string]bool{}, looked: map[string]bool{}})
	l.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "one"}}})
	w := twoSteps()
	l.start(w, planning.Start{})
	raw, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(raw), "| to know |")
	named := map[string][]string{}
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || strings.Contains(cells[0], "---") {
			continue
		}
		rows++
		for n, face := range []string{"command line", "API", "MCP", "page"} {
			switch m := cell.FindStringSubmatch(cells[n+1]); {
			case m != nil:
				named[face] = append(named[face], m[1])
			case strings.TrimSpace(cells[n+1]) != "–" && rows > 1:
				t.Errorf("%q of %q is neither a name nor a dash", cells[n+1], cells[0])
			}
		}
	}
	for _, command := range named["command line"] {
		words := strings.Fields(command)[1:]
		if status, out, errs := l.line(append(words, "--help")...); status != 0 || !strings.Contains(out, "pawl "+words[0]) {
			t.Errorf("%s: %d %s%s", command, status, out, errs)
		}
	}
	_, document := l.path("/openapi.json")
	var paths []string
	for path, methods := range l.object(document)["paths"].(object) {
		if _, asks := methods.(object)["get"]; asks {
			paths = append(paths, path)
		}
	}
	tools, err := l.client.ListTools(t.Context(), &sdk.ListToolsParams{})
	if err != nil {
		t.Fatal(err)
	}
	var reading []string
	for _, tool := range tools.Tools {
		if tool.Annotations.ReadOnlyHint {
			reading = append(reading, tool.Name)
		}
	}
	names := strings.NewReplacer("{run}", "RUN-1", "{task}", "T-001", "{issue}", "ISS-1")
	for _, page := range named["page"] {
		l.page(names.Replace(page))
	}
	for face, there := range map[string][]string{"API": paths, "MCP": reading} {
		all := slices.Compact(slices.Sorted(slices.Values(named[face])))
		slices.Sort(there)
		if !slices.Equal(all, there) {
			t.Errorf("%s: the table names\n%v\nand there are\n%v", face, all, there)
		}
	}
	for n := range l.page("/").Parent.Descendants() {
		if to, ok := attribute(n, "href"); ok && n.Type == html.ElementNode && strings.HasPrefix(to, "/") && strings.Count(to, "/") == 1 &&
			!strings.ContainsAny(to, "?.#") && !slices.Contains(named["page"], to) {
			t.Errorf("the page %s stands in no row of the table", to)
		}
	}
}

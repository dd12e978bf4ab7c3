// Package archtest keeps the house in order: who may import whom, what pure packages must not do, and how large files,
// functions, types, interfaces and packages may become (ARCHITECTURE.md, "Layout"). It holds tests only.
package archtest

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module       = "pawl"
	maxFile      = 800
	maxFunction  = 80
	maxMethods   = 25
	maxInterface = 8
	maxFiles     = 25
	maxMain      = 200 // lines of cmd/pawl, which only starts the program
	maxAssembly  = 700 // lines of app, which only wires
)

// rule says what a package, or all packages below a folder ("x/*"), may import of ours. Third lists the third-party
// modules that are allowed; nil allows all. Pure packages may not use the listed standard packages, the clock or
// goroutines either.
type rule struct {
	pattern string
	ours    []string
	third   []string
	pure    bool
}

var none = []string{}

// layers are the folders at the top from the lowest to the highest: a package imports from its own and from lower ones.
var layers = []string{".", "machine", "text", "kernel", "store", "sandbox", "agent", "driver", "runner", "face", "cmd"}

// maxTop bounds how many folders there are at the top.
const maxTop = 14

// protocols are the packages of the kernel's protocols. They know the kernel and none of each other; kernel/joined is
// where they meet. All are as pure as the kernel's decisions.
var protocols = []string{
	"kernel/approval", "kernel/budget", "kernel/control", "kernel/effects", "kernel/issues", "kernel/notices",
	"kernel/orders", "kernel/planning", "kernel/pulls", "kernel/recovery", "kernel/steps", "kernel/tasks",
	"kernel/verification",
}

// rules is the import table. A row for the package itself counts before one for its folder.
var rules = []rule{
	{pattern: ".", ours: none, third: []string{"github.com/oklog/ulid"}, pure: true},
	{pattern: "text/message", ours: []string{"."}, third: none, pure: true},
	{pattern: "text/display", ours: []string{"text/shell"}, third: none, pure: true},
	{pattern: "text/markdown", ours: none, third: none, pure: true},
	{pattern: "text/pattern", ours: none, third: none, pure: true},
	{pattern: "text/gitpattern", ours: none, third: none, pure: true},
	{pattern: "text/secret", ours: none, third: none, pure: true},
	{pattern: "text/strictjson", ours: none, third: []string{"github.com/go-json-experiment/json"}, pure: true},
	{pattern: "machine", ours: []string{"."}, third: none, pure: true},
	{pattern: "machine/composed", ours: []string{
		"machine/board", "machine/session", "machine/task", "machine/turn", "machine/workflow",
	}, third: none, pure: true},
	{pattern: "machine/*", ours: []string{".", "machine"}, third: none, pure: true},
	{pattern: "text/plan", ours: []string{".", "text/display", "text/markdown", "text/pattern", "text/strictjson"},
		third: []string{"go.yaml.in/yaml", "github.com/google/jsonschema-go", "github.com/invopop/jsonschema",
			"golang.org/x/text"}, pure: true},
	{pattern: "text/testrun", ours: none, third: none, pure: true},
	{pattern: "text/criteria", ours: []string{"text/display", "text/markdown", "text/pattern", "text/plan"},
		third: none, pure: true},
	{pattern: "text/shell", ours: none, third: []string{"mvdan.cc/sh"}, pure: true},
	{pattern: "text/policy", ours: []string{".", "text/display", "text/gitpattern", "text/pattern", "text/secret", "text/shell"},
		third: []string{"golang.org/x/text"}, pure: true},
	{pattern: "kernel/effect", ours: []string{".", "text/shell", "text/plan", "text/policy", "text/triage",
		"text/strictjson"},
		third: []string{"github.com/go-json-experiment/json"}, pure: true},
	{pattern: "kernel/audit", ours: []string{".", "text/strictjson"},
		third: []string{"golang.org/x/mod", "github.com/oklog/ulid"}, pure: true},
	{pattern: "text/solution", ours: []string{".", "text/markdown", "text/pattern"}, third: none, pure: true},
	{pattern: "text/knowledge", ours: []string{".", "machine", "machine/workflow", "text/markdown", "text/pattern",
		"text/solution"}, third: none, pure: true},
	{pattern: "text/triage", ours: []string{".", "machine", "machine/*", "text/display", "text/markdown",
		"text/pattern", "text/plan", "text/policy", "text/strictjson"}, third: none, pure: true},
	{pattern: "kernel/view", ours: []string{".", "machine", "machine/*", "text/display", "text/plan", "kernel/audit",
		"kernel/effect", "text/message", "text/policy", "text/solution", "text/triage"}, third: none, pure: true},
	{pattern: "kernel/view/viewtest", ours: []string{"machine", "machine/session"}},
	{pattern: "text/skill", ours: []string{".", "text/markdown", "text/message"}, third: none, pure: true},
	{pattern: "text/backlog", ours: []string{".", "machine", "machine/board", "text/markdown", "text/pattern",
		"text/strictjson"}, third: none, pure: true},
	{pattern: "kernel", ours: []string{".", "machine", "machine/*", "text/display", "text/plan", "text/policy",
		"text/triage", "kernel/effect", "kernel/audit", "kernel/view", "kernel/word", "text/solution", "text/knowledge"},
		third: []string{"github.com/go-json-experiment/json"}},
	{pattern: "kernel/word", ours: []string{"kernel/audit"}, third: none, pure: true},
	{pattern: "kernel/topo", ours: none, third: none, pure: true},
	{pattern: "kernel/issues", ours: []string{".", "kernel/composition", "machine", "machine/*", "kernel/audit", "kernel/effect", "kernel",
		"kernel/topo"},
		third: none},
	{pattern: "kernel/composition", ours: []string{"kernel", "machine/*"}, third: none, pure: true},
	{pattern: "kernel/joined", ours: append([]string{".", "kernel/composition", "machine/session", "kernel/effect", "kernel"}, protocols...),
		third: none, pure: true},
	{pattern: "kernel/replay", ours: []string{".", "machine/board", "machine/session", "kernel/audit",
		"kernel/effect", "kernel", "kernel/joined", "text/secret"}, third: none},
	{pattern: "kernel/query", ours: []string{".", "text/display", "text/message", "machine", "machine/*", "text/plan", "text/policy",
		"text/triage",
		"kernel/effect", "kernel/audit", "kernel/view", "text/solution", "text/knowledge", "kernel", "kernel/approval",
		"kernel/budget", "kernel/issues", "kernel/notices", "kernel/topo"},
		third: none},
	{pattern: "kernel/projection", ours: []string{
		".", "machine/board", "machine/session", "machine/task", "text/plan", "kernel/audit", "kernel/view", "kernel/query", "kernel",
	}, third: none},
	{pattern: "kernel/*", ours: []string{".", "kernel/composition", "text/criteria", "machine", "machine/*", "text/display", "text/plan", "text/policy",
		"text/triage", "kernel/effect", "kernel/audit", "kernel/view", "text/solution", "text/knowledge", "kernel"},
		third: none},
	{pattern: "store/owndir", ours: []string{".", "store/lockfile"}, third: []string{"golang.org/x/sys"}},
	{pattern: "store/disk", ours: []string{"store/owndir"}, third: []string{"golang.org/x/sys"}},
	{pattern: "store/logs", ours: []string{".", "store/disk", "store/owndir"}, third: none},
	{pattern: "store/follow", ours: none, third: none},
	{pattern: "store/known", ours: []string{"store/disk"}, third: []string{"golang.org/x/sys"}},
	{pattern: "store/moved", ours: []string{"kernel", "kernel/effect"}, third: none},
	{pattern: "store/feed", ours: []string{".", "kernel/audit"}, third: none},
	{pattern: "store/lockfile", ours: []string{"."}, third: []string{"golang.org/x/sys"}},
	{pattern: "store/*", ours: []string{".", "store/lockfile", "kernel/audit", "kernel", "kernel/effect", "text/plan",
		"machine", "machine/*"}},
	{pattern: "store/presence", ours: []string{".", "store/lockfile", "store/sqlite"}, third: none},
	{pattern: "store/recording", ours: []string{".", "kernel", "kernel/planning", "kernel/replay", "text/secret"}, third: none},
	{pattern: "driver/export", ours: []string{".", "kernel/audit", "driver/archive", "kernel/effect", "store/follow",
		"kernel", "kernel/projection", "kernel/query", "store/lockfile", "kernel/view"}, third: none},
	{pattern: "sandbox", ours: []string{".", "text/policy", "sandbox/seccomp", "sandbox/landlock", "sandbox/mediate",
		"sandbox/allow", "sandbox/cause", "sandbox/inside", "sandbox/links", "sandbox/meter", "sandbox/safeopen",
		"sandbox/stream",
		"store/disk"}},
	{pattern: "sandbox/links", ours: none, third: none},
	{pattern: "sandbox/stream", ours: none, third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/allow", ours: none, third: none},
	{pattern: "sandbox/safeopen", ours: []string{"."}, third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/seccomp", ours: none, third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/landlock", ours: none, third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/cause", ours: none, third: none},
	{pattern: "sandbox/meter", ours: []string{"sandbox/mediate"}, third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/inside", ours: none, third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/mediate", ours: []string{"sandbox/seccomp"}, third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/document", ours: []string{".", "kernel/effect", "sandbox/safeopen"}, third: none},
	{pattern: "sandbox/sshagent", ours: []string{"."}, third: []string{"golang.org/x/crypto"}},
	{pattern: "sandbox/withheld", ours: []string{"text/policy", "text/secret"}, third: none},
	{pattern: "sandbox/ignore", ours: []string{".", "sandbox/safeopen", "text/gitpattern"}, third: none},
	{pattern: "sandbox/git", ours: []string{".", "store/disk", "store/lockfile", "store/owndir", "kernel/effect", "sandbox/git/*"}},
	{pattern: "sandbox/git/program", ours: []string{"."}, third: none},
	{pattern: "sandbox/git/object", ours: []string{"store/disk", "store/lockfile", "sandbox/git/program"},
		third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/git/stat", ours: []string{"sandbox/git/object"}, third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/git/fresh", ours: []string{".", "sandbox/git/object", "sandbox/git/program", "sandbox/git/stat"},
		third: []string{"golang.org/x/sync"}},
	{pattern: "sandbox/deps", ours: []string{".", "kernel/effect", "sandbox", "sandbox/safeopen", "store/owndir"}},
	{pattern: "sandbox/git/filter", ours: []string{"sandbox/git", "sandbox/git/layout", "sandbox/git/object",
		"sandbox/git/program", "store/lockfile"}, third: none},
	{pattern: "sandbox/git/meta", ours: []string{"sandbox/git/program"}, third: none},
	{pattern: "sandbox/git/conflict", ours: []string{"kernel/effect", "sandbox/git/object"}, third: none, pure: true},
	{pattern: "sandbox/git/layout", ours: []string{".", "kernel/effect", "store/disk", "store/lockfile", "store/owndir",
		"text/policy", "sandbox/git/object", "sandbox/git/program"}, third: none},
	{pattern: "sandbox/git/own", ours: []string{".", "store/disk", "store/lockfile", "sandbox/git/layout", "sandbox/git/object",
		"sandbox/git/program"}, third: none},
	{pattern: "sandbox/keep", ours: []string{".", "kernel/effect", "store/disk", "store/owndir", "sandbox/safeopen",
		"sandbox/git/program"}, third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/planted", ours: []string{"kernel/effect", "sandbox", "store/owndir"},
		third: []string{"golang.org/x/sys"}},
	{pattern: "sandbox/*", ours: []string{".", "store/disk", "store/lockfile", "sandbox", "kernel/effect"}},
	{pattern: "driver/forge", ours: []string{".", "kernel/effect", "sandbox/git", "sandbox/git/layout", "store/disk", "text/backlog"},
		third: []string{"github.com/google/go-github"}},
	{pattern: "driver/checkpoint", ours: []string{".", "kernel/effect", "store/follow", "text/policy", "text/secret",
		"sandbox/safeopen", "sandbox/keep", "sandbox/git", "sandbox/git/layout", "sandbox/git/object"}, third: none},
	{pattern: "driver/ground", ours: []string{"kernel/effect", "sandbox", "sandbox/git", "sandbox/git/layout"}, third: none},
	{pattern: "driver/leftover", ours: []string{".", "driver/archive", "driver/workspace", "kernel/effect", "sandbox/git", "sandbox/git/layout",
		"store/*"}, third: none},
	{pattern: "driver/retention", ours: []string{"driver/leftover", "kernel/effect", "sandbox/git", "sandbox/git/layout", "sandbox/keep",
		"store/logs"}, third: none},
	{pattern: "driver/compound", ours: []string{".", "agent", "driver/checkpoint", "driver/contextpack",
		"driver/ground", "driver/verify", "kernel/effect", "sandbox/git", "sandbox/git/layout", "driver/workspace",
		"text/secret"}, third: none},
	{pattern: "driver/prove", ours: []string{".", "text/display", "text/plan", "text/testrun", "kernel/effect",
		"sandbox/git", "driver/ground", "driver/verify", "driver/verify/fingerprint", "driver/verify/testlist",
		"driver/prove/cut"},
		third: []string{"github.com/bluekeyes/go-gitdiff"}},
	{pattern: "driver/prove/cut", ours: none, third: []string{"github.com/bluekeyes/go-gitdiff"}, pure: true},
	{pattern: "driver/notify", ours: []string{".", "kernel/effect", "kernel/notices", "sandbox/egress", "sandbox/keyring"},
		third: []string{"github.com/godbus/dbus"}},
	{pattern: "driver/outbox", ours: []string{".", "driver/notify", "kernel", "kernel/effect", "kernel/notices", "kernel/query",
		"kernel/view", "store/feed", "store/lockfile", "store/presence", "text/display", "text/message"}, third: none},
	{pattern: "driver/tool", ours: []string{"kernel/effect", "text/policy"}, third: none},
	{pattern: "driver/toolbox", ours: []string{"driver/*"}, third: none},
	{pattern: "driver/verify/testlist", ours: []string{"text/testrun"}, third: []string{"golang.org/x/mod"}},
	{pattern: "driver/verify/gocache", ours: none, third: none},
	{pattern: "driver/verify/fingerprint", ours: []string{"kernel/effect"}, third: none, pure: true},
	{pattern: "driver/verify/judges", ours: []string{"kernel/effect", "driver/verify/testlist"},
		third: []string{"golang.org/x/mod"}},
	{pattern: "driver/verify/reads", ours: none, third: none},
	{pattern: "driver/verify/reporters", ours: []string{"text/policy", "text/shell", "text/testrun"}, third: none},
	{pattern: "driver/verify", ours: []string{".", "text/display", "text/plan", "text/policy", "text/shell",
		"text/secret", "text/testrun", "kernel/effect", "sandbox", "sandbox/allow", "sandbox/deps", "sandbox/safeopen",
		"store/disk", "store/logs", "store/owndir", "driver/ground",
		"driver/verify/fingerprint", "driver/verify/gocache", "driver/verify/judges", "driver/verify/reads",
		"driver/verify/reporters", "driver/verify/testlist"}},
	{pattern: "driver/*", ours: []string{".", "text/shell", "text/display", "driver/tool", "text/plan", "text/policy",
		"kernel/effect", "kernel/audit",
		"kernel/view", "text/gitpattern", "text/knowledge", "text/pattern", "text/solution", "text/triage", "sandbox", "sandbox/*",
		"sandbox/git/filter", "sandbox/git/layout",
		"sandbox/git/program", "store/disk", "store/lockfile", "store/logs"}},
	{pattern: "agent", ours: []string{".", "text/display", "text/plan", "text/policy", "text/strictjson", "text/triage",
		"machine/workflow", "kernel/effect", "store/disk", "store/logs", "agent/wire"}},
	{pattern: "agent/wire", ours: none, third: none, pure: true},
	{pattern: "agent/check", ours: []string{".", "text/display", "text/plan", "sandbox", "agent",
		"agent/scripted", "agent/wire"}},
	{pattern: "driver/launch", ours: []string{"agent", "agent/mcptools", "driver/search", "kernel/effect", "sandbox",
		"sandbox/deps", "sandbox/egress", "sandbox/planted"}, third: none},
	{pattern: "face/registry", ours: []string{
		"face/host", ".", "agent", "agent/*", "driver/launch", "face/cli",
		"face/cli/settings", "driver/verify", "kernel/effect", "kernel", "text/message", "text/plan", "sandbox",
		"sandbox/keyring", "sandbox/outside"}, third: none},
	{pattern: "agent/*", ours: []string{".", "text/criteria", "text/shell", "text/display", "text/strictjson", "text/plan",
		"text/policy", "text/triage",
		"kernel/effect", "kernel/audit", "kernel/view", "sandbox", "agent", "agent/wire", "store/disk", "store/logs"}},
	{pattern: "face/tui", ours: []string{".", "text/display", "store/disk", "text/message", "machine", "machine/*",
		"text/policy",
		"kernel/view", "text/triage", "face/cli/term"}, third: []string{"golang.org/x/term", "golang.org/x/sys",
		"charm.land/bubbletea/v2", "github.com/charmbracelet/", "github.com/muesli/cancelreader"}},
	{pattern: "face/fault", ours: []string{".", "kernel/view", "text/display", "text/message"}, third: none},
	{pattern: "face/give", ours: []string{".", "face/host", "kernel", "kernel/approval", "kernel/control", "kernel/word", "text/plan"}, third: none},
	{pattern: "face/api", ours: []string{".", "face/fault", "face/give", "face/host", "kernel", "kernel/approval", "kernel/audit",
		"kernel/control", "kernel/issues", "kernel/planning", "kernel/query", "kernel/recovery", "kernel/steps",
		"kernel/verification", "kernel/view", "machine/workflow", "store/feed", "store/logs", "text/display", "text/message",
		"text/policy", "text/strictjson"}, third: []string{"github.com/danielgtaylor/huma"}},
	{pattern: "face/serve", ours: []string{".", "face/api", "face/give", "face/host", "face/loopback", "face/mcp",
		"face/web", "face/person", "kernel", "kernel/audit", "kernel/projection", "kernel/query", "kernel/view", "store/disk", "store/follow",
		"store/known", "store/lockfile", "store/logs"}, third: []string{"golang.org/x/sys"}},
	{pattern: "face/web", ours: []string{".", "face/fault", "face/give", "face/host", "kernel", "kernel/approval", "kernel/audit",
		"kernel/control", "kernel/effect", "kernel/issues", "kernel/planning", "kernel/query", "kernel/recovery", "kernel/steps",
		"kernel/verification", "kernel/view", "machine", "machine/*", "store/disk", "store/feed", "text/display",
		"text/message", "text/plan", "text/policy"}, third: []string{"github.com/a-h/templ", "github.com/bluekeyes/go-gitdiff"}},
	{pattern: "face/loopback", ours: []string{".", "text/display"}, third: none},
	{pattern: "face/mcp", ours: []string{"face/fault", "face/give", "face/loopback", "store/feed", ".", "text/display", "text/message", "machine", "machine/*", "text/plan",
		"kernel/effect", "kernel/audit", "kernel/view", "kernel", "kernel/*", "runner"}},
	{pattern: "store/notary", ours: []string{".", "kernel/audit", "kernel", "store/lockfile"}},
	{pattern: "driver/workspace", ours: []string{".", "kernel/effect", "sandbox/git/layout", "sandbox/git/program",
		"store/known", "store/owndir", "text/shell"}},
	{pattern: "driver/workspace/relocate", ours: []string{".", "kernel/effect", "kernel",
		"kernel/control", "kernel/planning", "kernel/recovery",
		"kernel/query", "store/disk", "store/known", "store/notary", "store/presence", "sandbox/git/layout",
		"sandbox/git/program", "store/sqlite",
		"driver/workspace"},
		third: none},
	{pattern: "face/project", ours: []string{
		"face/host", ".", "agent/script", "face/cli", "face/cli/settings", "driver/commit",
		"driver/forge", "driver/knowledge", "driver/packages", "driver/prepare", "driver/review", "driver/search", "driver/shell",
		"driver/verify", "kernel/effect", "text/knowledge", "text/plan", "sandbox", "sandbox/deps", "sandbox/egress", "sandbox/git",
		"sandbox/git/layout", "sandbox/keyring"}, third: none},
	{pattern: "face/doctor", ours: []string{"text/display", ".", "driver/leftover", "kernel/effect", "sandbox", "sandbox/git",
		"sandbox/git/filter", "sandbox/git/layout", "sandbox/cause", "sandbox/prove"}},
	{pattern: "face/upkeep", ours: []string{".", "face/cli/settings", "face/host", "driver/leftover", "driver/retention", "kernel",
		"kernel/audit", "kernel/control", "kernel/effect", "kernel/query", "store/logs"}, third: none},
	{pattern: "face/tell", ours: []string{"driver/notify", "driver/outbox", "face/cli/settings", "face/host", "face/serve",
		"kernel/effect", "kernel/notices", "kernel/query", "sandbox/withheld", "store/presence"}, third: none},
	{pattern: "face/walls", ours: []string{"face/cli/settings", "sandbox"}, third: none},
	{pattern: "face/approver", ours: []string{".", "face/cli/settings", "face/person", "kernel", "kernel/word",
		"sandbox/sshagent"}, third: none},
	{pattern: "face/person", ours: none, third: []string{"golang.org/x/sys", "golang.org/x/term"}},
	{pattern: "face/demo", ours: []string{".", "text/shell", "text/display", "text/plan", "text/policy", "text/triage",
		"sandbox", "sandbox/self", "store/known",
		"agent/scripted"}},
	{pattern: "runner", ours: []string{".", "machine", "machine/*", "text/plan", "text/policy", "kernel/effect",
		"kernel/audit", "kernel/view", "kernel", "kernel/budget", "kernel/control", "kernel/effects", "kernel/issues",
		"kernel/planning",
		"kernel/recovery", "kernel/steps", "kernel/tasks"}},
	{pattern: "face/host", ours: []string{".", "face/cli/settings", "face/tui", "kernel", "kernel/audit", "kernel/effect",
		"kernel/view", "kernel/word", "runner", "store/feed", "text/backlog", "text/display", "text/knowledge", "text/message", "text/policy"}, third: none},
	{pattern: "face/cli", ours: []string{
		"face/fault", "face/give", "face/host", "face/person", "kernel/verification", ".", "text/shell", "text/display", "text/strictjson", "text/message", "machine/board", "machine/session",
		"machine/turn", "machine/workflow",
		"text/plan", "text/policy", "text/triage", "kernel/effect",
		"kernel/audit", "kernel/view", "kernel", "kernel/approval", "kernel/budget", "kernel/control",
		"kernel/issues", "kernel/planning", "kernel/steps", "kernel/query", "runner", "text/backlog", "text/knowledge",
		"face/cli/settings", "face/cli/term", "face/tui",
	}},
	{pattern: "face/cli/settings", ours: []string{".", "text/display", "store/disk", "text/message", "machine/workflow",
		"text/policy",
		"text/knowledge", "kernel", "kernel/budget", "kernel/notices", "face/cli/term", "face/tui"}},
	{pattern: "face/cli/answers", ours: []string{
		"face/fault", "face/host", "machine/session", "kernel/verification", ".", "text/plan", "text/policy", "kernel/effect", "kernel/view",
		"kernel", "kernel/approval", "kernel/planning", "kernel/steps", "kernel/query", "face/cli",
		"face/cli/policies", "face/cli/term"}},
	{pattern: "face/cli/auditlog", ours: []string{"face/fault", ".", "kernel/composition", "text/message", "kernel/audit", "kernel",
		"kernel/query", "kernel/replay", "kernel/word",
		"face/cli", "face/cli/term"}},
	{pattern: "face/cli/policies", ours: []string{".", "face/host", "kernel", "kernel/effect", "kernel/view", "text/policy",
		"text/shell", "face/cli", "face/cli/settings", "face/cli/term"}},
	{pattern: "face/cli/commands", ours: []string{"face/cli", "face/cli/*"}},
	{pattern: "face/cli/control", ours: []string{".", "text/plan", "kernel", "kernel/control", "kernel/effect", "kernel/recovery",
		"face/cli", "face/cli/tasks"}},
	{pattern: "face/cli/machines", ours: []string{".", "text/message", "machine", "machine/*", "kernel/joint",
		"face/cli", "face/cli/term"}},
	{pattern: "face/cli/servers", ours: []string{
		"face/fault", "face/host", ".", "text/display", "face/cli", "face/cli/settings"}},
	{pattern: "face/cli/serving", ours: []string{".", "face/cli", "face/cli/agents", "face/cli/settings", "face/cli/term",
		"face/give", "face/host", "kernel", "kernel/planning"}},
	{pattern: "face/cli/notifying", ours: []string{".", "face/cli", "face/cli/term", "face/host", "kernel/notices",
		"kernel/query", "kernel/view"}},
	{pattern: "face/cli/setup", ours: []string{
		"face/approver", "face/host", ".", "text/display", "text/shell", "kernel/effect", "kernel/audit",
		"kernel", "face/cli", "face/cli/settings", "face/cli/term"}},
	{pattern: "face/cli/tasks", ours: []string{
		".", "machine/session", "machine/task", "kernel/view", "kernel", "kernel/approval", "kernel/control",
		"kernel/joined", "kernel/orders", "kernel/planning", "kernel/recovery", "kernel/tasks", "kernel/query", "text/plan",
		"face/cli", "face/cli/auditlog", "face/cli/inspect", "face/cli/term", "face/tui",
	}},
	{pattern: "face/cli/term/termtest", ours: []string{"text/display", "face/cli/term"}},
	{pattern: "face/cli/agents", ours: []string{
		"face/fault", "face/host", ".", "face/cli", "face/cli/settings", "face/cli/term", "face/tui"}},
	{pattern: "face/cli/complete", ours: []string{
		"face/host", ".", "text/message", "machine", "machine/*", "text/policy",
		"text/skill", "kernel/view", "kernel", "kernel/query", "face/cli", "face/cli/settings", "face/cli/term"}},
	{pattern: "face/cli/inspect", ours: []string{".", "machine/session", "kernel", "kernel/budget", "kernel/audit",
		"kernel/effect",
		"kernel/view", "kernel/query", "store/logs", "face/cli", "face/cli/auditlog", "face/cli/settings", "face/cli/term"}},
	{pattern: "face/cli/skills", ours: []string{".", "text/skill", "sandbox/safeopen", "face/cli"}},
	{pattern: "face/cli/manual", ours: []string{".", "face/cli", "face/cli/settings"}},
	{pattern: "face/cli/orders", ours: []string{
		"face/host", ".", "text/message", "machine", "machine/*", "text/plan",
		"kernel/effect", "kernel/audit", "kernel/view", "kernel", "kernel/*", "runner", "text/knowledge",
		"text/pattern", "text/shell", "text/solution", "text/triage", "face/cli", "face/cli/control", "face/cli/term",
		"face/tui"}},
	{pattern: "face/cli/board", ours: []string{
		"face/host", ".", "text/message", "machine", "machine/*", "text/plan",
		"kernel/effect", "kernel/audit", "kernel/view", "kernel", "kernel/*", "runner", "text/backlog", "face/cli",
		"face/cli/agents", "face/cli/settings", "face/cli/term", "face/tui"}},
	{pattern: "face/cli/flow", ours: []string{"text/criteria", "text/pattern",
		"face/host", ".", "text/message", "machine", "machine/*", "text/plan", "text/policy",
		"text/triage", "text/solution", "text/knowledge", "kernel/effect", "kernel/audit", "kernel/view", "kernel",
		"kernel/approval", "kernel/control", "kernel/planning", "kernel/recovery", "kernel/steps",
		"runner", "face/cli", "face/cli/agents", "face/cli/answers", "face/cli/settings", "face/cli/term",
		"face/cli/orders", "face/tui"}},
	{pattern: "face/cli/*", ours: []string{".", "text/display", "text/message", "text/policy", "kernel/view"}},
	{pattern: "face/app", ours: []string{
		"face/host", ".", "text/plan", "text/policy", "kernel/effect", "kernel/audit", "kernel", "kernel/joined",
		"kernel/projection", "kernel/query",
		"runner", "store/*", "driver/*", "driver/launch", "face/approver", "face/registry", "sandbox", "sandbox/egress",
		"sandbox/git", "sandbox/git/layout", "sandbox/planted", "sandbox/sshagent", "sandbox/withheld", "face/walls",
		"driver/workspace", "driver/workspace/relocate", "face/project", "face/upkeep", "face/doctor", "face/demo", "face/serve", "face/tell",
		"face/cli", "face/cli/commands", "face/cli/settings",
	}, third: none},
	{pattern: "cmd/*", ours: []string{"*"}},
	{pattern: "internal/*", ours: []string{"*"}},
}

// forbidden are standard packages that a pure package must not import.
var forbidden = []string{"os", "os/exec", "net", "net/http", "database/sql", "syscall", "math/rand", "math/rand/v2",
	"crypto/rand", "log", "log/slog"}

// banned are package names that say nothing.
var banned = []string{"util", "utils", "common", "helper", "helpers", "base", "shared", "types", "misc", "models",
	"constants"}

type pkg struct {
	ImportPath   string
	Dir          string
	Name         string
	Imports      []string
	GoFiles      []string
	IgnoredFiles []string `json:"IgnoredGoFiles"`
	Doc          string
	Export       string // the file with what the compiler tells others of the package, where it was asked for
}

func (p pkg) rel() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

// files are the names of all files of a package, those for other systems included, without its tests.
func (p pkg) files() []string {
	return slices.DeleteFunc(slices.Concat(p.GoFiles, p.IgnoredFiles),
		func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

// written are the names of the files that somebody wrote. The others are measured by what they are generated from.
func (p pkg) written(t *testing.T) []string {
	return slices.DeleteFunc(p.files(), func(name string) bool {
		return ast.IsGenerated(parse(t, filepath.Join(p.Dir, name)).tree)
	})
}

// packages lists the packages of the project. All tests share one list.
func packages(t *testing.T) []pkg {
	t.Helper()
	all, err := listed()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if len(all) < 15 {
		t.Fatalf("go list found %d packages", len(all))
	}
	return all
}

var listed = sync.OnceValues(func() ([]pkg, error) {
	return list("-json=ImportPath,Dir,Name,Imports,GoFiles,IgnoredGoFiles,Doc", "./...")
})

// list returns what go list says for its arguments.
func list(args ...string) (all []pkg, err error) {
	cmd := exec.Command("go", append([]string{"list", "-e"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	for d := json.NewDecoder(bytes.NewReader(out)); err == nil; {
		var p pkg
		if err = d.Decode(&p); err == nil {
			all = append(all, p)
		}
	}
	if err != io.EOF {
		return nil, err
	}
	return all, nil
}

func fits(pattern, rel string) bool {
	if pattern == "*" {
		return true
	}
	ok, _ := path.Match(pattern, rel)
	return ok
}

func ruleFor(rel string) (rule, bool) {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.pattern == rel })
	if i < 0 {
		i = slices.IndexFunc(rules, func(r rule) bool { return fits(r.pattern, rel) })
	}
	if i < 0 {
		return rule{}, false
	}
	return rules[i], true
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		rel := p.rel()
		if len(p.GoFiles) == 0 {
			continue
		}
		r, ok := ruleFor(rel)
		if !ok {
			t.Errorf("%s: no row of the import table fits; add one to internal/archtest", rel)
			continue
		}
		for _, imp := range p.Imports {
			if why := refused(r, rel, imp); why != "" {
				t.Errorf("%s imports %s: %s", rel, imp, why)
			}
		}
	}
}

// layer is the place of a package among the layers, -1 for what is in none of them.
func layer(rel string) int {
	top, _, _ := strings.Cut(rel, "/")
	return slices.Index(layers, top)
}

// TestLayers: the first look at the house tells what it is made of, and imports lead downward only.
func TestLayers(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		from := layer(p.rel())
		if from < 0 && len(p.GoFiles) > 0 && !testSupport(p.rel()) {
			t.Errorf("%s: its folder is none of the layers", p.rel())
		}
		for _, imp := range p.Imports {
			own, ours := strings.CutPrefix(imp, module+"/")
			if to := layer(own); ours && from >= 0 && !testSupport(p.rel()) {
				seen++
				if to < 0 || to > from {
					t.Errorf("%s imports %s, which lies above it", p.rel(), own)
				}
			}
		}
	}
	if seen < 400 {
		t.Errorf("%d imports were looked at", seen)
	}
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	var tops []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "bin" {
			tops = append(tops, e.Name())
		}
	}
	if len(tops) > maxTop {
		t.Errorf("%d folders at the top, at most %d: %q", len(tops), maxTop, tops)
	}
}

func refused(r rule, rel, imp string) string {
	own, ours := strings.CutPrefix(imp, module+"/")
	if imp == module {
		own, ours = ".", true
	}
	switch {
	case ours:
		if own == rel || slices.ContainsFunc(r.ours, func(p string) bool { return fits(p, own) }) || testSupport(rel) {
			return ""
		}
		return "not allowed by the import table"
	case strings.Contains(strings.SplitN(imp, "/", 2)[0], "."):
		if r.third == nil || slices.ContainsFunc(r.third, func(m string) bool { return strings.HasPrefix(imp, m) }) {
			return ""
		}
		return "third-party module not allowed here"
	case imp == "os/exec" && rel != "sandbox" && !strings.HasPrefix(rel, "sandbox/") &&
		!strings.HasPrefix(rel, "internal/") && !testSupport(rel):
		return "only sandbox starts processes"
	case imp == "testing" && !testSupport(rel):
		return "test code belongs into tests and suites"
	case r.pure && slices.Contains(forbidden, imp):
		return "the package is pure"
	}
	return ""
}

// testSupport reports whether a package is a suite or test plumbing.
func testSupport(rel string) bool {
	return strings.HasSuffix(rel, "test") || strings.HasPrefix(rel, "internal/")
}

// decides reports whether a package takes part in decisions.
func decides(rel string) bool { return rel == "kernel" || slices.Contains(protocols, rel) }

func TestPurity(t *testing.T) {
	for _, p := range packages(t) {
		r, ok := ruleFor(p.rel())
		if !ok || !r.pure && !decides(p.rel()) {
			continue
		}
		for _, name := range p.GoFiles {
			inspect(t, filepath.Join(p.Dir, name), func(n ast.Node) {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s: a pure package starts no goroutine", fset.Position(n.Pos()))
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" &&
						slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After"}, n.Sel.Name) {
						t.Errorf("%s: a pure package reads no clock", fset.Position(n.Pos()))
					}
				}
			})
		}
	}
}

// source is a file of Go, read and parsed once for all tests.
type source struct {
	raw  []byte
	tree *ast.File
}

var (
	fset    = token.NewFileSet()
	sources = map[string]source{}
)

// lines is how many lines a file has.
func (s source) lines() int { return bytes.Count(s.raw, []byte("\n")) }

func parse(t *testing.T, file string) source {
	t.Helper()
	s, ok := sources[file]
	if ok {
		return s
	}
	var err error
	if s.raw, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	if s.tree, err = parser.ParseFile(fset, file, s.raw, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		t.Fatal(err)
	}
	sources[file] = s
	return s
}

func inspect(t *testing.T, file string, see func(ast.Node)) {
	t.Helper()
	ast.Inspect(parse(t, file).tree, func(n ast.Node) bool { see(n); return true })
}

func TestBudgets(t *testing.T) {
	for _, p := range packages(t) {
		if n := len(p.written(t)); n > maxFiles {
			t.Errorf("%s: %d files, at most %d", p.rel(), n, maxFiles)
		}
		if p.Doc == "" && len(p.GoFiles) > 0 {
			t.Errorf("%s: no package comment", p.rel())
		}
		if slices.Contains(banned, p.Name) {
			t.Errorf("%s: the package's name says nothing", p.rel())
		}
		methods, lines := map[string]int{}, 0
		for _, name := range p.written(t) {
			lines += budget(t, filepath.Join(p.Dir, name), methods)
		}
		if most, ok := map[string]int{"cmd/pawl": maxMain, "face/app": maxAssembly}[p.rel()]; ok && lines > most {
			t.Errorf("%s: %d lines, at most %d; what it holds beside wiring has a room of its own (ARCHITECTURE.md)",
				p.rel(), lines, most)
		}
		for typ, n := range methods {
			if n > maxMethods {
				t.Errorf("%s.%s: %d methods, at most %d", p.rel(), typ, n, maxMethods)
			}
		}
	}
}

// budget holds a file to its limits, counts the methods in it, and returns how many lines it has.
func budget(t *testing.T, file string, methods map[string]int) (lines int) {
	t.Helper()
	if lines = parse(t, file).lines(); lines > maxFile {
		t.Errorf("%s: %d lines, at most %d", file, lines, maxFile)
	}
	inspect(t, file, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if lines := fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1; lines > maxFunction {
				t.Errorf("%s: %s has %d lines, at most %d", fset.Position(n.Pos()), n.Name.Name, lines, maxFunction)
			}
			if n.Recv != nil {
				methods[receiver(n.Recv.List[0].Type)]++
			}
			if n.Recv == nil && n.Name.Name == "init" {
				t.Errorf("%s: no init functions", fset.Position(n.Pos()))
			}
		case *ast.InterfaceType:
			if len(n.Methods.List) > maxInterface {
				t.Errorf("%s: interface with %d methods, at most %d", fset.Position(n.Pos()), len(n.Methods.List),
					maxInterface)
			}
		}
	})
	return lines
}

// receiver names the type that a method belongs to.
func receiver(e ast.Expr) string {
	name, _, _ := strings.Cut(strings.TrimLeft(types.ExprString(e), "*("), "[")
	return name
}

// TestAuditEventsAreNamed: what a record tells is a constant of the kernel (AuditEvent), so that who reads the log
// finds who writes it.
func TestAuditEventsAreNamed(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		if !decides(p.rel()) {
			continue
		}
		for _, name := range p.GoFiles {
			inspect(t, filepath.Join(p.Dir, name), func(n ast.Node) {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 4 {
					return
				}
				if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "Record" {
					return
				}
				seen++
				ast.Inspect(call.Args[1], func(n ast.Node) bool {
					if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						t.Errorf("%s: the event %s is no constant", fset.Position(lit.Pos()), lit.Value)
					}
					return true
				})
			})
		}
	}
	if seen < 80 {
		t.Errorf("%d records", seen)
	}
}

// TestFacesSeeNoRows: what a face shows are answers (kernel/query) and outcomes. It reads no row, and does not ask the
// store for one.
func TestFacesSeeNoRows(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		rel := p.rel()
		if !isFace(rel) {
			continue
		}
		for _, name := range p.GoFiles {
			seen++
			inspect(t, filepath.Join(p.Dir, name), func(n ast.Node) {
				if what := ofRows(n); what != "" && rel+" "+what != opening {
					t.Errorf("%s: %s; ask kernel/query", fset.Position(n.Pos()), what)
				}
			})
		}
	}
	if seen < 80 {
		t.Errorf("%d files were looked at", seen)
	}
}

// opening is where the program puts a workspace together: it says where its store is.
const opening = "face/app moved.At"

// ofRows names what a piece of code has to do with rows, "" where that is nothing.
func ofRows(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 0 && f.Sel.Name == "Store" {
			return types.ExprString(n)
		}
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if ok && (x.Name == "moved" || x.Name == "kernel" &&
			slices.Contains([]string{"Batch", "Decode", "Row", "Select", "Write"}, n.Sel.Name)) {
			return types.ExprString(n)
		}
	}
	return ""
}

// TestRefusesWhatItShould guards the guard: a table that lets everything pass would never be noticed.
func TestRefusesWhatItShould(t *testing.T) {
	for _, c := range []struct{ rel, imp string }{
		{"kernel", module + "/store/sqlite"}, {"machine/task", module + "/machine/turn"}, {"text/plan",
			"os"}, {"face/cli", "os/exec"},
		{"driver/file", module + "/driver/search"}, {"driver/file", module + "/kernel"}, {"runner", module +
			"/store/sqlite"}, {"kernel/view", "net/http"}, {"kernel/steps", module + "/kernel/recovery"},
		{"kernel", module + "/kernel/steps"}, {"kernel/query", module + "/kernel/tasks"},
		{"text/policy", "github.com/spf13/cobra"}, {"store/sqlite", module + "/runner"}, {"face/tui", module +
			"/kernel"},
		{"driver/compound", module + "/driver/land"}, {"driver/export", module + "/face/cli"}, {"face/project", module +
			"/kernel"}, {"store/presence", module + "/runner"}, {"face/app", module + "/agent/llm"},
		{"agent/wire", module + "/effect"}, {"agent/wire", "net/http"},
	} {
		r, ok := ruleFor(c.rel)
		if !ok || refused(r, c.rel, c.imp) == "" {
			t.Errorf("%s may import %s", c.rel, c.imp)
		}
	}
}

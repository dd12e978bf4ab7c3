package message

import (
	"strings"
	"sync"
)

// area is the part of the catalogue for keys that begin with one name. It stands in files of its own, named after it.
type area struct {
	name  string
	parts []*part
}

// areas joins the catalogue. The linker lays this table out; nothing is done for it when a program starts.
var areas = [...]area{
	{"id", []*part{&idText}},
	{"plan", []*part{&planText}},
	{"policy", []*part{&policyText}},
	{"sandbox", []*part{&sandboxText}},
	{"git", []*part{&gitText}},
	{"file", []*part{&fileText}},
	{"search", []*part{&searchText}},
	{"shell", []*part{&shellText}},
	{"verify", []*part{&verifyText}},
	{"prepare", []*part{&prepareText}},
	{"context", []*part{&contextText}},
	{"script", []*part{&scriptText}},
	{"store", []*part{&storeText}},
	{"lock", []*part{&lockText}},
	{"triage", []*part{&triageText}},
	{"audit", []*part{&auditText}},
	{"kernel", []*part{&kernelText, &kernelAgents, &kernelBoard}},
	{"login", []*part{&loginText}},
	{"agent", []*part{&agentText, &agentGateway, &agentExternal}},
	{"llm", []*part{&llmText}},
	{"land", []*part{&landText}},
	{"point", []*part{&pointText}},
	{"archive", []*part{&archiveText}},
	{"runner", []*part{&runnerText}},
	// What most commands print comes first, because a part is made when it is first searched.
	{"cli", []*part{&cliScreens, &cliFlags, &cliCommands, &cliFlow, &cliErrors, &cliAgents, &cliMCP, &cliServers}},
	{"check", []*part{&checkText}},
	{"machine", []*part{&machineText}},
	{"replay", []*part{&replayText}},
	{"mcp", []*part{&mcpText, &mcpTools}},
	{"mcptools", []*part{&mcptoolsText}},
	{"solution", []*part{&solutionText}},
	{"knowledge", []*part{&knowledgeText}},
	{"orders", []*part{&ordersText}},
	{"issue", []*part{&issueText}},
	{"backlog", []*part{&backlogText}},
	{"github", []*part{&githubText}},
	{"tui", []*part{&tuiText}},
	{"skill", []*part{&skillText}},
	{"see", []*part{&seeText}},
}

// part is a piece of an area. It is made when it is first asked for, because every start of a program would pay for a map
// that is made with the package, the launcher of each command behind walls included.
type part struct {
	load  func() Table
	once  sync.Once
	table Table
}

// entries returns the part's table.
func (p *part) entries() Table {
	p.once.Do(func() { p.table = p.load() })
	return p.table
}

// partsOf returns the parts that a key may stand in.
func partsOf(key string) []*part {
	name, _, _ := strings.Cut(key, ".")
	for i := range areas {
		if areas[i].name == name {
			return areas[i].parts
		}
	}
	return nil
}

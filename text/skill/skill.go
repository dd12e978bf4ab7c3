// Package skill is what coding agents are told of pawl: the skill context-manager, a folder with a SKILL.md in the form
// of the Agent Skills standard, and a section for AGENTS.md. It says where agents look for them, renders both in either
// language, and knows its own work again, so that nobody else's is ever written over. It is pure.
package skill

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"pawl"
	"pawl/text/message"
)

// Name is the name of the skill, and of the folder that holds it.
const Name = "context-manager"

// FileName is the name of the file that agents read in the folder.
const FileName = "SKILL.md"

// DocName is the file that agents read from the top of a project.
const DocName = "AGENTS.md"

//go:embed text/skill.en.md
var skillEn string

//go:embed text/skill.zh.md
var skillZh string

//go:embed text/section.en.md
var sectionEn string

//go:embed text/section.zh.md
var sectionZh string

// Text is the skill in a language, without the seal that an installed file ends with.
func Text(lang message.Lang) string {
	if lang == message.Chinese {
		return skillZh
	}
	return skillEn
}

// Section is the section for AGENTS.md in a language, without its markers.
func Section(lang message.Lang) string {
	if lang == message.Chinese {
		return sectionZh
	}
	return sectionEn
}

// The seal is the last line of a file that pawl has written. It holds the digest of all before it, which tells a file
// that nobody has touched from one in which a person has written.
const (
	sealBegin = "\n<!-- written by pawl skill install; sha256:"
	sealEnd   = " -->\n"
)

// File is the content of an installed SKILL.md.
func File(lang message.Lang) []byte {
	text := Text(lang)
	return []byte(text + sealBegin + digest(text) + sealEnd)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Owner says whose a file is.
type Owner string

// The owners: pawl wrote it as it is, pawl wrote it and somebody has changed it since, or it is somebody else's.
const (
	OwnerPawl    Owner = "pawl"
	OwnerChanged Owner = "changed"
	OwnerOther   Owner = "other"
)

// OwnerOf says whose a SKILL.md is, whichever version of pawl wrote it and in whichever language.
func OwnerOf(data []byte) Owner {
	at := bytes.LastIndex(data, []byte(sealBegin))
	if at < 0 {
		return OwnerOther
	}
	if string(data[at:]) == sealBegin+digest(string(data[:at]))+sealEnd {
		return OwnerPawl
	}
	return OwnerChanged
}

// Agent is where one coding agent looks. Skills are folders of skills and Docs files that hold instructions, relative
// to the project; HomeSkills and HomeDoc are the same in the home of a person, "" where the agent has none.
type Agent struct {
	Name       string
	Skills     string
	Doc        string
	HomeSkills string
	HomeDoc    string
}

// agents are the agents that are known, by what their documentation says. Agents with an empty Doc take AGENTS.md for a
// file like any other, and find the skill by themselves.
var agents = []Agent{
	{"claude", ".claude/skills", "", ".claude/skills", ""},
	{"cline", ".cline/skills", DocName, ".cline/skills", ""},
	{"codex", ".agents/skills", DocName, ".agents/skills", ".codex/AGENTS.md"},
	{"gemini", ".gemini/skills", "", ".gemini/skills", ""},
	{"opencode", ".opencode/skills", DocName, ".config/opencode/skills", ".config/opencode/AGENTS.md"},
	{"pi", ".pi/skills", DocName, ".pi/agent/skills", ".pi/agent/AGENTS.md"},
	{"qwen", ".qwen/skills", DocName, ".qwen/skills", ""},
}

// Agents are the names of the agents that are known, sorted.
func Agents() []string {
	out := make([]string, len(agents))
	for n, a := range agents {
		out[n] = a.Name
	}
	return out
}

// Target is a file to write, relative to the project or to the home. Doc says that it is a file of instructions, of
// which only a section is pawl's.
type Target struct {
	Path string
	Doc  bool
}

// Targets are the files for some agents, each once. Without any they are the folders that most agents share, .agents
// and .claude, and in a project its AGENTS.md. An unknown name is CodeUsage.
func Targets(home bool, names ...string) ([]Target, error) {
	if len(names) == 0 {
		out := []Target{{Path: at(".agents/skills")}, {Path: at(".claude/skills")}}
		if !home {
			out = append(out, Target{Path: DocName, Doc: true})
		}
		return out, nil
	}
	var out []Target
	add := func(t Target) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(agents, func(a Agent) bool { return a.Name == strings.ToLower(strings.TrimSpace(name)) })
		if i < 0 {
			return nil, pawl.Fail(pawl.CodeUsage, "skill.agent_unknown", name,
				strings.Join(Agents(), ", ")).In("skill.Targets")
		}
		skills, doc := agents[i].Skills, agents[i].Doc
		if home {
			skills, doc = agents[i].HomeSkills, agents[i].HomeDoc
		}
		add(Target{Path: at(skills)})
		if doc != "" {
			add(Target{Path: doc, Doc: true})
		}
	}
	return out, nil
}

func at(skills string) string { return path.Join(skills, Name, FileName) }

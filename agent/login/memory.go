package login

import (
	"os"
	"strings"

	"pawl/agent"
)

// maxMemory bounds what is taken of one text that the owner wrote for an agent.
const maxMemory = 64 << 10

// remembered are the owner's texts for an agent as files below the work's home, each with the project's texts behind it
// where the program does not read those by itself.
func remembered(memory map[string]string, p agent.Program, tree string) map[string]string {
	out := agent.Texts(tree, p.Texts)
	for name, from := range memory {
		if text := strings.TrimSpace(readText(from)); text != "" {
			out[name] = strings.TrimRight(text+"\n\n"+out[name], "\n") + "\n"
		}
	}
	return out
}

// readText reads a text of the owner's, "" where there is none that can be read.
func readText(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxMemory {
		return ""
	}
	raw, _ := os.ReadFile(path)
	return string(raw)
}

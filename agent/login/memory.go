package login

import (
	"os"
	"path/filepath"
	"strings"
)

// maxMemory bounds what is taken of one text that the owner wrote for an agent.
const maxMemory = 64 << 10

// remembered are the owner's texts for an agent as files below the work's home. Several that one file is made of stand in it one
// after the other.
func remembered(memory map[string][]string, tree string) map[string]string {
	out := map[string]string{}
	for name, sources := range memory {
		var parts []string
		for _, from := range sources {
			path, ours := strings.CutPrefix(from, "{tree}/")
			text := ""
			if ours {
				text = readBelow(tree, path)
			} else {
				text = readText(path)
			}
			if text = strings.TrimSpace(text); text != "" {
				parts = append(parts, text+"\n")
			}
		}
		if len(parts) > 0 {
			out[name] = strings.Join(parts, "\n")
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

// readBelow reads a text of the project, from which no link leads out.
func readBelow(dir, name string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxMemory {
		return ""
	}
	raw, _ := root.ReadFile(filepath.Clean(name))
	return string(raw)
}

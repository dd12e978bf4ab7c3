package git

import (
	"context"
	"strings"
	"sync"
	"time"

	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/stat"
)

// Memory is what one process knows of repositories from the last time that it looked: what their configuration says,
// and how the files of a tree stood when it was last recorded. Nothing in it is believed without asking the file system
// whether it still holds, so a Memory makes answers cheap and never different. It is safe for concurrent use; the zero
// value is empty, and a nil one remembers nothing.
type Memory struct {
	mu      sync.Mutex
	configs map[string]configNote
	tables  map[string]*table
}

// mostRemembered bounds the repositories and the trees of a Memory. A process works on a few at a time.
const mostRemembered = 64

// table is what is remembered of a tree that was recorded: every file, link and folder that had a say in what the
// record holds, as the file system described it. Whatever is done to a file moves the time of its last change (ctime),
// which programs cannot set; so a file that looks the same is the same, except within the grain of that time, where its
// content is read again.
//
// The table knows contents of files that were recorded and the names in every folder. Everything else that a snapshot
// depends on (ignore patterns, which files are tracked, nested repositories) is remembered only as unchanged; when it
// did change, the table does not know the tree, and git has to look.
type table struct {
	basis basis
	tree  string
	files *stat.Tree
}

// basis is what a table rests on besides the files of the tree. The two indexes are never written in place, so a new
// one is a new file.
type basis struct {
	config, rules string
	index, source stat.Stamp // pawl's own index, and the one that tools use in the tree
}

// takeTable hands out what is remembered of a tree. It is gone from the memory until putTable gives it back, so that
// nothing is remembered of a look that failed half way.
func (m *Memory) takeTable(key string) *table {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tables[key]
	delete(m.tables, key)
	return t
}

func (m *Memory) putTable(key string, t *table) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tables == nil || len(m.tables) >= mostRemembered {
		m.tables = map[string]*table{}
	}
	m.tables[key] = t
}

// configNote is what a configuration said, and the files that decide what it says.
type configNote struct {
	config layout.Config
	files  map[string]stat.Stamp // absent files as well, because they may appear
}

// holds reports whether no file that the configuration comes from has changed.
func (n configNote) holds() bool {
	for path, old := range n.files {
		if stat.StampFile(path) != old {
			return false
		}
	}
	return true
}

// readConfig is the user's configuration, from memory where no file that it comes from has changed.
func (m *Memory) readConfig(ctx context.Context, r *layout.Layout) (layout.Config, error) {
	if m == nil {
		config, _, err := r.ReadConfig(ctx)
		return config, err
	}
	key := strings.Join(append([]string{r.Workspace, r.GitDir, r.CommonDir}, layout.ConfigEnv()...), "\x00")
	m.mu.Lock()
	note, ok := m.configs[key]
	m.mu.Unlock()
	if ok && note.holds() {
		return note.config, nil
	}
	begin := time.Now()
	config, origins, err := r.ReadConfig(ctx)
	if err != nil {
		return layout.Config{}, err
	}
	note = configNote{config: config, files: map[string]stat.Stamp{}}
	paths, known := r.ConfigFiles(origins)
	for _, path := range paths {
		// A file that changed in the moment of reading may change again without showing it.
		s := stat.StampFile(path)
		known = known && s.Settled(begin)
		note.files[path] = s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.configs == nil || len(m.configs) >= mostRemembered {
		m.configs = map[string]configNote{}
	}
	delete(m.configs, key)
	if known {
		m.configs[key] = note
	}
	return config, nil
}

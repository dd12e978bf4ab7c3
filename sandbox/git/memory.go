package git

import (
	"context"
	"os"
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

// Open is like the function Open, and the Repo uses what m remembers.
func (m *Memory) Open(ctx context.Context, p layout.Place) (*Repo, error) { return open(ctx, p, m) }

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

// statusCache answers snapshots of a tree from what a Memory knows of its files, and has git look where that does not
// suffice.
type statusCache struct {
	paths  *layout.Layout
	index  treeIndex
	memory *Memory
}

// snapshot is Snapshot under the lock of the tree, from memory where that knows the tree.
func (r statusCache) snapshot(ctx context.Context) (string, error) {
	key := r.paths.IndexFile + "\x00" + r.paths.Tree
	if t := r.memory.takeTable(key); t != nil {
		tree, ok, err := r.again(ctx, t)
		if err != nil {
			return "", err
		}
		if ok {
			r.memory.putTable(key, t)
			return tree, nil
		}
	}
	begin := r.moment()
	tree, seen, err := r.index.observe(ctx)
	if err != nil {
		return "", err
	}
	os.Remove(r.paths.IndexFile + quickNote) //nolint:errcheck // it only spares one tree more than need be
	if t := r.tabulate(ctx, tree, seen, begin); t != nil {
		r.memory.putTable(key, t)
	}
	return tree, nil
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

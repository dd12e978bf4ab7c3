package contextpack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"pawl"
	"pawl/sandbox"
)

// The cache is a folder of segments. Each holds what is known of some files, and is never changed; which of several that know
// a file is right is seen from the file itself. So it does not matter who wrote which when, and a segment that is missing,
// damaged or somebody else's costs time and nothing else.
const (
	cacheDir    = ".pawl/cache/context"
	segmentEnd  = ".seg"
	maxSegments = 8 // then all of them become one
)

// cache keeps an index between processes.
type cache struct {
	root   *sandbox.Root
	tagged bool
	names  []string // segments that are there
}

// openCache opens the cache of a workspace; nil where there is none to keep one in.
func openCache(workspace string, tagged bool) *cache {
	root, err := sandbox.OpenRoot(workspace, sandbox.WithInternal())
	if err != nil {
		return nil
	}
	if info, err := root.Lstat(".pawl"); err != nil || !info.IsDir() {
		_ = root.Close() // nothing was written
		return nil
	}
	return &cache{root: root, tagged: tagged}
}

func (c *cache) close() {
	if c != nil {
		_ = c.root.Close() // what was written is closed already
	}
}

// load adds what the cache knows to an index.
func (c *cache) load(ctx context.Context, ix *index) {
	if c == nil {
		return
	}
	list, err := c.root.ReadDir(cacheDir)
	if err != nil {
		return
	}
	for _, d := range list {
		if !strings.HasSuffix(d.Name(), segmentEnd) || !d.Type().IsRegular() || ctx.Err() != nil {
			continue
		}
		c.names = append(c.names, d.Name())
		data, err := c.root.ReadFile(path.Join(cacheDir, d.Name()), 0)
		if err != nil {
			continue
		}
		t, entries, err := decode(data, c.tagged)
		if err != nil {
			continue
		}
		if len(ix.t.list) <= 1 {
			*ix.t = *t
		} else {
			to := ix.t.adopt(t)
			for _, e := range entries {
				e.translate(to)
			}
		}
		for _, e := range entries {
			if have := ix.files[e.path]; have == nil || have.stamp.mtime <= e.stamp.mtime {
				ix.files[e.path] = e
			}
		}
	}
}

// save keeps the entries of an index that are new.
func (c *cache) save(ix *index, changed []*entry) error {
	var old []string
	if len(c.names) >= maxSegments {
		changed, old, c.names = ix.list, c.names, nil
	}
	data := encode(ix.t, changed, c.tagged)
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:8]) + segmentEnd
	if err := c.root.MkdirAll(cacheDir, 0o755); err != nil {
		return err
	}
	if err := c.root.WriteFile(path.Join(cacheDir, name), data, 0o600); err != nil {
		return err
	}
	c.names = append(c.names, name)
	for _, o := range old {
		if o == name {
			continue
		}
		if err := c.root.Remove(path.Join(cacheDir, o)); err != nil && pawl.CodeOf(err) != pawl.CodeNotFound {
			return err
		}
	}
	return nil
}

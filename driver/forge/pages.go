package forge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"pawl/store/disk"
)

// Page is an answer of the API that was read to its end.
type Page struct {
	URL string `json:"url"`
	// ETag names this state of the page; Next is the address of the page behind it, or "".
	ETag string `json:"etag"`
	Next string `json:"next,omitempty"`
	Body []byte `json:"-"`
}

// Pages keeps pages between imports. A page that was damaged must not be returned.
type Pages interface {
	Load(url string) (Page, bool)
	Save(p Page) error
}

// Dir keeps pages as files in a folder of its own, for its user alone. It is safe for concurrent use, also by several
// processes: a file is whole or not there, and its contents are checked against their hash.
type Dir struct{ Path string }

// header is the first line of a file.
type header struct {
	Page
	Sum string `json:"sum"`
}

func fileOf(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:20]) + ".page"
}

func sumOf(p Page) string {
	h := sha256.New()
	for _, s := range []string{p.URL, p.ETag, p.Next, string(p.Body)} {
		sum := sha256.Sum256([]byte(s))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Load returns the page of an address, if it is there and whole.
func (d Dir) Load(url string) (Page, bool) {
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return Page{}, false
	}
	defer root.Close()
	name := fileOf(url)
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxPage+64<<10 {
		return Page{}, false
	}
	f, err := root.Open(name)
	if err != nil {
		return Page{}, false
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxPage+64<<10))
	if err != nil {
		return Page{}, false
	}
	first, body, ok := bytes.Cut(raw, []byte("\n"))
	var h header
	if !ok || json.Unmarshal(first, &h) != nil {
		return Page{}, false
	}
	h.Body = body
	if h.URL != url || h.ETag == "" || h.Sum != sumOf(h.Page) {
		return Page{}, false
	}
	return h.Page, true
}

// Save keeps a page, in the place of an older state of it.
func (d Dir) Save(p Page) error {
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		return err
	}
	first, err := json.Marshal(header{p, sumOf(p)})
	if err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(d.Path, fileOf(p.URL)), append(append(first, '\n'), p.Body...))
}

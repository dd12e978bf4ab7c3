package tui

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pawl/store/disk"
)

// The bounds of the history.
const (
	maxEntries = 1000
	maxEntry   = 8 << 10
	maxHistory = 1 << 20
)

// secret finds what should not be kept: a name of something secret that a value is given to, and keys by their known
// forms.
var secret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(token|secret|passw(or)?d|passwd|pwd|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|密码|口令|密钥|令牌)["']?\s*[=:：]\s*\S` +
		`|\b(bearer|basic)\s+[a-z0-9+/_.=-]{12,}|-----BEGIN|\bsk-[a-z0-9_-]{12,}|\bgh[pousr]_[a-z0-9]{16,}|\bgithub_pat_|\bglpat-|\bxox[abp]-|\bAKIA[0-9A-Z]{12,}|://[^/\s:@]+:[^/\s@]+@`)
})

// history keeps the lines that were entered, oldest first, in a file of one JSON string per line. Several prompts may
// share the file: each writes what is in it and its own line behind. Without a path it lasts as long as the prompt.
type history struct {
	path  string
	lines []string
}

// openHistory reads the file; one that is missing is empty, and lines in it that cannot be read are left out.
func openHistory(path string) (*history, error) {
	h := &history{path: path}
	return h, h.read()
}

func (h *history) read() error {
	if h.path == "" {
		return nil
	}
	f, err := os.Open(h.path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was read only
	if st, err := f.Stat(); err != nil {
		return err
	} else if n := st.Size() - maxHistory; n > 0 {
		if _, err := f.Seek(n, io.SeekStart); err != nil {
			return err
		}
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxHistory))
	if err != nil {
		return err
	}
	h.lines = h.lines[:0]
	for l := range bytes.Lines(raw) {
		var text string
		if json.Unmarshal(l, &text) == nil {
			h.push(clean(text))
		}
	}
	return nil
}

// push adds a line unless it is the same as the last one.
func (h *history) push(text string) bool {
	if text == "" || len(text) > maxEntry || len(h.lines) > 0 && h.lines[len(h.lines)-1] == text {
		return false
	}
	h.lines = append(h.lines, text)
	if n := len(h.lines) - maxEntries; n > 0 {
		h.lines = slices.Delete(h.lines, 0, n)
	}
	return true
}

// add keeps a line, in the file as well. Lines that hold a secret, and those that begin with a blank, are not kept.
func (h *history) add(text string) error {
	if strings.HasPrefix(text, " ") || secret().MatchString(text) {
		return nil
	}
	if err := h.read(); err != nil {
		return err
	}
	if !h.push(strings.TrimSpace(text)) || h.path == "" {
		return nil
	}
	return h.write()
}

// write replaces the file, so that a crash leaves the old one or the new one.
func (h *history) write() error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, l := range h.lines {
		_ = enc.Encode(l) // a string always encodes
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	return disk.WriteFile(h.path, b.Bytes())
}

// before finds the newest line older than place from that holds all of what; -1 when there is none. Case does not
// count.
func (h *history) before(from int, what string) int {
	what = strings.ToLower(what)
	for i := min(from, len(h.lines)) - 1; i >= 0; i-- {
		if strings.Contains(strings.ToLower(h.lines[i]), what) {
			return i
		}
	}
	return -1
}

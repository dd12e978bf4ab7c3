package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// beat is how often a stream says that it is alive, gather how long commits are gathered for one message, and writing
// how long a browser may take to receive it.
const (
	beat    = 15 * time.Second
	gather  = 8 * time.Millisecond
	writing = 10 * time.Second
)

// live tells a page whenever something was committed, with the place in the audit log that it can show by then: the
// page fetches itself anew, so that it ends as a fresh one would be, whatever was missed in between.
func (s *server) live(w http.ResponseWriter, r *http.Request) {
	if s.Door.who(r) == "" {
		http.Error(w, "", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	commits := s.Feed.Listen()
	defer commits.Close()
	alive := time.NewTicker(beat)
	defer alive.Stop()
	event := "at"
	for {
		head, err := s.log.Head(r.Context())
		if err != nil || s.Door.who(r) == "" {
			return // it comes back, and is told then what is wrong
		}
		// Where nothing can be set there is no network, as in tests.
		_ = control.SetWriteDeadline(time.Now().Add(writing))
		if _, err = fmt.Fprintf(w, "retry: 1000\nevent: %s\ndata: %d\n\n", event, head.Size); err != nil {
			return
		}
		if control.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-commits.C:
			event = "at"
			time.Sleep(gather)
		case <-alive.C:
			event = "beat"
		}
	}
}

//go:embed static
var files embed.FS

// assets are the embedded files by the names that they are served under, which change with their content.
var assets = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	list, _ := files.ReadDir("static") // it is embedded
	for _, f := range list {
		raw, _ := files.ReadFile("static/" + f.Name())
		sum := sha256.Sum256(raw)
		stem, ext, _ := strings.Cut(f.Name(), ".")
		out[f.Name()] = stem + "-" + hex.EncodeToString(sum[:6]) + "." + ext
	}
	return out
})

// asset is where an embedded file is.
func asset(name string) string { return "/static/" + assets()[name] }

// types are those of the embedded files.
var types = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml"}

// static serves an embedded file, which never changes under its name.
func static(w http.ResponseWriter, r *http.Request) {
	for name, as := range assets() {
		if as != r.PathValue("name") {
			continue
		}
		raw, _ := files.ReadFile("static/" + name)
		w.Header().Set("Content-Type", types[path.Ext(name)])
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		_, _ = w.Write(raw) // who has gone away needs no answer
		return
	}
	http.NotFound(w, r)
}

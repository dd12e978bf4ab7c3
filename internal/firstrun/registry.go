package firstrun

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/dirhash"
)

// The module that the Go folders need.
const (
	signModule  = "example.com/sign"
	signVersion = "v1.0.0"
	signMod     = "module " + signModule + "\n\ngo 1.20\n"
	signGo      = "// Package sign turns signs round.\npackage sign\n\n// Neg negates.\nfunc Neg(n int) int { return -n }\n"
)

// signFiles are the files of the module, by their names in its archive.
func signFiles() map[string]string {
	at := signModule + "@" + signVersion + "/"
	return map[string]string{at + "go.mod": signMod, at + "sign.go": signGo}
}

// signSums is the go.sum of who needs the module.
func signSums() string {
	files := signFiles()
	open := func(name string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(files[name])), nil }
	var names []string
	for name := range files {
		names = append(names, name)
	}
	whole, err := dirhash.Hash1(names, open)
	if err != nil {
		panic(err) // the names hold no line ends, and every file opens
	}
	mod, err := dirhash.Hash1([]string{"go.mod"},
		func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(signMod)), nil })
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%[1]s %[2]s %[3]s\n%[1]s %[2]s/go.mod %[4]s\n", signModule, signVersion, whole, mod)
}

// registry is a proxy of Go modules on loopback with that one module.
type registry struct {
	url  string
	http *http.Server
}

func serveRegistry() (*registry, error) {
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, text := range signFiles() {
		f, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	files := map[string]string{
		"list": signVersion + "\n", signVersion + ".info": `{"Version":"` + signVersion + `"}`, signVersion +
			".mod": signMod, signVersion + ".zip": archive.String(),
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &registry{url: "http://" + l.Addr().String()}
	r.http = &http.Server{ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			text, ok := files[strings.TrimPrefix(q.URL.Path, "/"+signModule+"/@v/")]
			if !ok {
				http.NotFound(w, q)
				return
			}
			_, _ = io.WriteString(w, text) // who went away does not wait for it
		})}
	go func() { _ = r.http.Serve(l) }()
	return r, nil
}

func (r *registry) close() { _ = r.http.Close() }

// downloaded fetches the module into the user's cache, as go does at home.
func downloaded(m *maker) error {
	_, err := m.run([]string{"GOFLAGS=-modcacherw", "GOCACHE=" + filepath.Join(m.base, "go-build")}, "go", "mod",
		"download")
	return err
}

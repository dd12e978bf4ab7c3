package forge_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/driver/forge"
	"pawl/text/backlog"
	"pawl/text/message"
)

// A server with a certificate of its own is trusted only where its authority is named, and no token goes to it before.
func TestCertificates(t *testing.T) {
	h := newHub(t, 1)
	d := newDesk(t, h)
	secure := httptest.NewTLSServer(h)
	defer secure.Close()
	d.Base = secure.URL
	_, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{})
	if pawl.CodeOf(err) != pawl.CodeEnvironment || innermost(err).Key != "forge.certificate" || len(h.took()) > 0 {
		t.Errorf("%v", err)
	}
	clear(t, err, nil)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	carry, err := forge.Transport(file)
	if err != nil {
		t.Fatal(err)
	}
	defer carry.(*http.Transport).CloseIdleConnections()
	if carry.(*http.Transport).Proxy == nil {
		t.Error("proxies are not asked for")
	}
	d.HTTP = carry
	if got, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{}); err != nil ||
		len(got.Backlog.Issues) != 1 {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, file + ".missing"} {
		if _, err := forge.Transport(name); err == nil || innermost(err).Key != "forge.ca_file" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every text of the catalogue's area is used, and every one that is used is there.
func TestTexts(t *testing.T) {
	var used []string
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(`"(forge\.[a-z_]+)"`).FindAllStringSubmatch(string(raw), -1) {
			used = append(used, m[1])
		}
	}
	for _, key := range used {
		if _, ok := message.Lookup(key); !ok {
			t.Errorf("%s has no text", key)
		}
	}
	for _, key := range message.Keys() {
		if strings.HasPrefix(key, "forge.") && !slices.Contains(used, key) {
			t.Errorf("%s is used nowhere", key)
		}
	}
}

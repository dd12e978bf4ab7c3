package forge_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/driver/forge"
)

// A comment is written once, or it is said that nobody knows; the mark tells afterwards.
func TestComment(t *testing.T) {
	h := newHub(t, 3)
	d := newDesk(t, h)
	if err := d.Comment(t.Context(), acme, 2, "task:01ABC", "Done in 3 steps. 已完成"); err != nil {
		t.Fatal(err)
	}
	for mark, want := range map[string]bool{"task:01ABC": true, "task:01AB": false} {
		if got, err := d.Commented(t.Context(), acme, 2, mark); got != want || err != nil {
			t.Errorf("%s: %v, %v", mark, got, err)
		}
	}
	for name, f := range map[string]fault{
		"dropped": drops, "502": fails(502, ""),
		"taken, and then dropped": func(w http.ResponseWriter, r *http.Request) bool {
			h.answer(w, r)
			panic(http.ErrAbortHandler)
		},
	} {
		h.script, h.comments = []fault{f}, nil
		h.took()
		err := d.Comment(t.Context(), acme, 2, "x", "text")
		if pawl.CodeOf(err) != pawl.CodeOutcomeUnknown || len(h.took()) != 1 {
			t.Errorf("%s: %v", name, err)
		}
		clear(t, err, nil)
		if got, err := d.Commented(t.Context(), acme, 2, "x"); got != strings.HasPrefix(name, "taken") || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	// A limit is a refusal, so the comment may be made after it.
	h.script, h.comments = []fault{fails(403, "secondary rate limit", "Retry-After", "5")}, nil
	if err := d.Comment(t.Context(), acme, 2, "y", "text"); err != nil || len(h.comments) != 1 ||
		d.waits[len(d.waits)-1] != 5*time.Second {
		t.Errorf("%v, %v", err, d.waits)
	}
	for _, bad := range [][2]string{{"x y", "text"}, {"x-->", "text"}, {"", "text"}, {"x", " "},
		{"x", strings.Repeat("x", 70_000)}} {
		if err := d.Comment(t.Context(), acme, 2, bad[0], bad[1]); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

func TestLabel(t *testing.T) {
	h := newHub(t, 3)
	d := newDesk(t, h)
	h.script = []fault{drops, fails(500, "")}
	if err := d.Label(t.Context(), acme, 2, "pawl:done", "已完成"); err != nil ||
		strings.Join(h.labels, " ") != "pawl:done 已完成" {
		t.Errorf("%v, %v", err, h.labels)
	}
	if err := d.Label(t.Context(), acme, 2, " "); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("%v", err)
	}
	h.took()
	d.Token = nil
	if err := d.Label(t.Context(), acme, 2, "x"); pawl.CodeOf(err) != pawl.CodeLogin || len(h.took()) > 0 {
		t.Errorf("%v", err)
	}
}

func TestParseRepo(t *testing.T) {
	for text, want := range map[string]string{
		"github:acme/app": "acme/app", "acme/app": "acme/app", " github.com/acme/app.git ": "acme/app",
		"https://github.com/acme/app/issues/":   "acme/app",
		"https://www.github.com/acme/app":       "acme/app",
		"github:GHE.example.com:8443/a-b/c.d_e": "ghe.example.com:8443/a-b/c.d_e",
		"":                                      "", "acme": "", "acme/": "", "/app": "", "acme/..": "",
		"acme/app/x/y": "", "acme/a b": "",
		"acme/app?x": "", "-/app": "", "a@b/acme/app": "", "github:../acme/app": "",
	} {
		r, err := forge.ParseRepo(text)
		if (err != nil) != (want == "") || err == nil && r.String() != want {
			t.Errorf("%q: %v, %v", text, r, err)
		}
		if again, _ := forge.ParseRepo(r.String()); err == nil && again != r {
			t.Errorf("%v comes back as %v", r, again)
		}
	}
	r := forge.Repo{Owner: "a", Name: "b"}
	if r.API() != "https://api.github.com" {
		t.Error(r.API())
	}
	if r.Host = "ghe.test"; r.API() != "https://ghe.test/api/v3" {
		t.Error(r.API())
	}
}

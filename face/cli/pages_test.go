package cli_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pawl/face/cli/settings"
	"pawl/face/give"
	"pawl/face/host"
	"pawl/face/web"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/text/message"
	"pawl/text/plan"
)

// visitor is a person on the dashboard of a console's workspace.
type visitor struct {
	*testing.T
	k      *kernel.Kernel
	pages  http.Handler
	cookie string
}

// visit enters the dashboard.
func (c *console) visit(t *testing.T, diff string) *visitor {
	t.Helper()
	place, err := c.host.Find("")
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.host.Open(context.Background(), place, host.Open{Config: settings.Default()})
	if err != nil {
		t.Fatal(err)
	}
	door := web.NewDoor(t.TempDir(), time.Now)
	v := &visitor{T: t, k: w.Kernel, pages: web.New(web.Config{Kernel: w.Kernel, Feed: w.Feed, Door: door, Lang: message.English,
		To:   func(k *kernel.Kernel) give.To { return give.To{Kernel: k} },
		Diff: func(context.Context, effect.Place, string, string) (string, error) { return diff, nil }})}
	code, err := door.Code("user:ada")
	if err != nil {
		t.Fatal(err)
	}
	v.cookie, _, _ = strings.Cut(v.post("/enter", url.Values{"code": {code}}, http.StatusSeeOther).Header().Get("Set-Cookie"), ";")
	return v
}

func (v *visitor) ask(r *http.Request, want int) *httptest.ResponseRecorder {
	v.Helper()
	r.Header.Set("Cookie", v.cookie)
	got := httptest.NewRecorder()
	v.pages.ServeHTTP(got, r)
	if got.Code != want {
		v.Fatalf("%s %s: %d, want %d: %s", r.Method, r.URL, got.Code, want, got.Body)
	}
	return got
}

func (v *visitor) get(path string) string {
	v.Helper()
	return v.ask(httptest.NewRequestWithContext(v.Context(), http.MethodGet, path, http.NoBody), http.StatusOK).Body.String()
}

func (v *visitor) post(path string, form url.Values, want int) *httptest.ResponseRecorder {
	v.Helper()
	r := httptest.NewRequestWithContext(v.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return v.ask(r, want)
}

// hidden are the fields of a form that a person does not fill in.
func hidden(page, action string) url.Values {
	_, form, _ := strings.Cut(page, `action="`+action+`"`)
	form, _, _ = strings.Cut(form, "</form>")
	out := url.Values{}
	for _, m := range regexp.MustCompile(`type="hidden" name="(\w+)" value="([^"]*)"`).FindAllStringSubmatch(form, -1) {
		out.Set(m[1], m[2])
	}
	return out
}

// shownTimes is how often the log says that a question was shown.
func (v *visitor) shownTimes() (n int) {
	v.Helper()
	for rec, err := range query.Of(v.k).Log().Records(v.Context(), audit.Subject{}, 0) {
		if err != nil {
			v.Fatal(err)
		}
		if strings.Contains(string(rec.Bytes), string(kernel.AuditApprovalShown)) {
			n++
		}
	}
	return n
}

// TestCommentOnLines: lines of work that waits for a word are answered, which sends it back with their file, number and
// text. It counts once, for what was shown, and not where nothing can be sent back any more.
func TestCommentOnLines(t *testing.T) {
	const patch = "diff --git a/age.go b/age.go\n--- a/age.go\n+++ b/age.go\n@@ -1,2 +1,2 @@\n package age\n-var old = 1\n+var age = 2\n"
	c := newConsole(t, "C")
	hollow := effect.Witness{Check: "tests", Kind: "test", Test: "TestAge", Without: effect.WithoutBuild, Own: true}
	c.host.world.plan.Criteria = []plan.Criterion{{ID: "c1", Text: "Age gives the age", Proof: plan.ProofCheck, Texts: []string{"Age"}}}
	c.host.world.seen = &effect.ProveResult{Changed: []effect.FileStat{{Status: "M", Path: "age.go"}}, Witnesses: []effect.Witness{hollow}}
	c.must(9, "run", "Age gives the age", "--yes")
	v := c.visit(t, patch)
	in, err := query.Inbox(t.Context(), v.k, query.Working{}, 10)
	if err != nil || len(in.Needs) != 1 || in.Needs[0].About != kernel.AboutProof {
		t.Fatalf("%+v %v", in, err)
	}
	form := func() url.Values { return hidden(v.get("/run/RUN-1/diff"), "/comment") }
	first := form()
	if page := v.get("/run/RUN-1/diff"); !strings.Contains(page, `name="line" value="0.3"`) || first.Get("digest") != in.Needs[0].Digest {
		t.Fatalf("%v: %s", first, page)
	}
	if !strings.Contains(v.get("/decide"), `action="/comment"`) {
		t.Error("the page of the decision takes no comment")
	}
	if n := v.shownTimes(); n != 1 {
		t.Errorf("it was shown %d times, by the log", n)
	}
	for _, wrong := range []url.Values{{"line": {"0.3"}, "reason": {" "}}, {"line": {"0.99"}, "reason": {"x"}},
		{"line": {"7.0"}, "reason": {"x"}}, {"line": {"-1.-1"}, "reason": {"x"}}, {"line": {"x"}, "reason": {"x"}}} {
		f := form()
		f["line"], f["reason"] = wrong["line"], wrong["reason"]
		v.post("/comment", f, http.StatusUnprocessableEntity)
	}
	for name, value := range map[string]string{"digest": strings.Repeat("0", 64), "nonce": "x", "tree": "other"} {
		f := form()
		f.Set("line", "0.3")
		f.Set("reason", "no")
		f.Set(name, value)
		v.post("/comment", f, http.StatusConflict)
	}
	f := form()
	f["line"] = []string{"0.2", "0.3"}
	f.Set("reason", "three, please")
	v.post("/comment", f, http.StatusSeeOther)
	v.post("/comment", f, http.StatusConflict)
	r, err := query.Of(v.k).Run(t.Context(), kernel.SessionLabel, "RUN-1")
	if err != nil {
		t.Fatal(err)
	}
	want := "age.go:2: -var old = 1\nage.go:2: +var age = 2\nthree, please"
	said := ""
	for _, a := range r.Approvals {
		if a.About == kernel.AboutProof {
			said = a.State + " " + a.By + " " + a.Note
		}
	}
	if said != kernel.ApprovalRefused+" user:ada "+want {
		t.Errorf("%q", said)
	}
	if strings.Contains(v.get("/run/RUN-1/diff"), `action="/comment"`) {
		t.Error("what is sent back can be sent back again")
	}
	if _, st, err := query.NeedOf(t.Context(), v.k, query.Working{}, nil); err != nil || st.Approval != nil {
		t.Errorf("%+v %v", view.Need{}, err)
	}
}

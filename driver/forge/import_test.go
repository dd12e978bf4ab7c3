package forge_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/driver/forge"
	"pawl/machine/board"
	"pawl/text/backlog"
	"pawl/text/message"
)

// The same list twice: a thousand issues, none twice, and the second time only requests with conditions.
func TestThousandTwice(t *testing.T) {
	h := newHub(t, 1000)
	d := newDesk(t, h)
	first, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Backlog.Issues) != 1000 || first.Entries != 1000 || first.Requests != 11 || first.Unsaved != nil {
		t.Fatalf("%d issues, %+v", len(first.Backlog.Issues), first)
	}
	known := map[string]string{}
	for _, i := range first.Backlog.Issues {
		known[i.ID] = i.Digest()
	}
	if len(known) != 1000 {
		t.Fatalf("%d different issues", len(known))
	}
	h.took()
	second, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := backlog.Compare(known, second.Backlog.Issues)
	if len(second.Backlog.Issues) != 1000 || len(c.Added)+len(c.Changed)+len(c.Gone) > 0 {
		t.Errorf("%d issues, %d added, %d changed, %d gone", len(second.Backlog.Issues), len(c.Added), len(c.Changed),
			len(c.Gone))
	}
	requests := h.took()
	if second.Unconditional != 0 || second.Unchanged != second.Pages || len(requests) != second.Requests {
		t.Errorf("%+v", second)
	}
	for _, r := range requests {
		if !r.conditional || r.authorization != "Bearer "+token {
			t.Errorf("%+v", r)
		}
	}

	// One changes and one more comes, behind a page that is full: exactly these two are seen.
	h.issues[404]["title"] = "Changed"
	h.add("depends on #405")
	third, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c = backlog.Compare(known, third.Backlog.Issues)
	if len(c.Added) != 1 || c.Added[0].ID != "github:acme/app#1001" || len(c.Changed) != 1 ||
		c.Changed[0].Title != "Changed" || third.Unchanged != 9 {
		t.Errorf("added %d, changed %d, %d pages unchanged", len(c.Added), len(c.Changed), third.Unchanged)
	}
}

// A dependency on an issue that is closed is looked up, and one on an issue that never was is an error.
func TestLookups(t *testing.T) {
	h := newHub(t, 5)
	d := newDesk(t, h)
	h.issues[0]["body"] = "depends on #2"
	h.issues[1]["state"], h.issues[1]["body"] = "closed", "depends on #99"
	got, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := got.Backlog.Issues[len(got.Backlog.Issues)-1]
	if len(got.Backlog.Issues) != 5 || last.ID != "github:acme/app#2" || last.Status != board.IssueCompleted ||
		len(last.DependsOn) != 0 || !slices.Equal(got.Backlog.Issues[0].DependsOn, []string{"github:acme/app#2"}) {
		t.Errorf("%+v", got.Backlog.Issues)
	}
	if got, err = d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{}); err != nil ||
		got.Unconditional != 0 {
		t.Errorf("the second time: %+v, %v", got, err)
	}
	h.issues[2]["body"] = "depends on #77"
	_, err = d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{})
	var m *pawl.Problems
	if !errors.As(err, &m) || m.List[0].Key != "backlog.unknown" || m.List[0].Args[0] != "GH-3 → github:acme/app#77" {
		t.Errorf("%v", err)
	}
	if got, err := d.Import(t.Context(), forge.Query{Repo: acme, All: true},
		backlog.Options{Loose: true}); err != nil || len(got.Backlog.Issues) != 5 {
		t.Errorf("all: %d, %v", len(got.Backlog.Issues), err)
	}
}

// Each fault is a clear error with a next step, or is gone after a while; nothing that was read is read again.
func TestFaults(t *testing.T) {
	second := func(f ...fault) []fault { return append([]fault{nil}, f...) }
	reset := func(d time.Duration) []string {
		return []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset",
			unix(time.Date(2026, 1, 30, 10, 0, 0, 0, time.UTC).Add(d))}
	}
	for _, c := range []struct {
		name   string
		script []fault
		code   pawl.Code
		key    string
		waits  []time.Duration
	}{
		{"401", second(fails(401, "Bad credentials")), pawl.CodeLogin, "forge.token_refused", nil},
		{"403", second(fails(403, "Resource not accessible by integration")), pawl.CodeDenied, "forge.forbidden", nil},
		{"403 for single sign-on", second(fails(403, "SAML", "X-GitHub-SSO",
			"required; url=https://github.com/orgs/acme/sso")), pawl.CodeLogin, "forge.sso", nil},
		{"404", second(fails(404, "Not Found")), pawl.CodeNotFound, "forge.not_found", nil},
		{"410", second(fails(410, "Issues are disabled")), pawl.CodeNotFound, "forge.gone", nil},
		{"422", second(fails(422, "Validation failed")), pawl.CodeInvalid, "forge.refused", nil},
		{"429 once", second(fails(429, "slow down", "Retry-After", "7")), "", "", seconds(7)},
		{"429 with a date", second(fails(429, "slow down", "Retry-After", "Fri, 30 Jan 2026 10:00:09 GMT")), "", "",
			seconds(9)},
		{"403 at the end of the hour's requests",
			second(fails(403, "API rate limit exceeded", reset(50*time.Second)...)), "", "", seconds(51)},
		{"403 until tomorrow", second(fails(403, "API rate limit exceeded", reset(24*time.Hour)...)), pawl.CodeBusy,
			"forge.rate_limited", nil},
		{"the second limit, without an end",
			second(repeat(9, fails(403, "You have exceeded a secondary rate limit"))...), pawl.CodeBusy,
			"forge.rate_limited", seconds(60, 120, 240, 480)},
		{"a limit foreseen", second(adds(reset(30 * time.Second)...)), "", "", seconds(31)},
		{"429 that makes no sense", second(fails(429, "", "Retry-After", "soon", "X-RateLimit-Remaining", "0",
			"X-RateLimit-Reset", "never")), "", "", seconds(60)},
		{"500 twice", second(fails(500, "oops"), fails(502, "<html>")), "", "", seconds(1, 2)},
		{"503 for good", second(repeat(4, fails(503, "down", "Retry-After", "3"))...), pawl.CodeIO, "forge.server",
			seconds(3, 3, 4)},
		{"cut off once", second(cuts), "", "", seconds(1)},
		{"cut off for good", second(cuts, cuts, cuts, cuts), pawl.CodeIO, "forge.cut_off", seconds(1, 2, 4)},
		{"dropped for good", second(repeat(8, drops)...), pawl.CodeIO, "forge.unreachable", seconds(1, 2, 4)},
		{"a page of a proxy", second(says("<html>log in</html>")), pawl.CodeIO, "forge.malformed", nil},
		{"half of JSON", second(says(`[{"number":1`)), pawl.CodeIO, "forge.malformed", nil},
		{"an object", second(says(`{"message":"hello"}`)), pawl.CodeIO, "forge.malformed", nil},
		{"nothing", second(says("")), pawl.CodeIO, "forge.malformed", nil},
		{"304 that was not asked for", second(fails(304, "")), pawl.CodeInvalid, "forge.refused", nil},
		{"the next page elsewhere", second(leads("https://evil.test/steal")), pawl.CodeIO, "forge.malformed", nil},
		{"the next page is this one", second(leads("/repos/acme/app/issues?direction=asc&page=2&per_page=100&sort=created&state=open")), pawl.CodeIO, "forge.endless", nil},
		{"two long waits", second(repeat(2, fails(429, "", "Retry-After", "600"))...), pawl.CodeBusy,
			"forge.rate_limited", seconds(600)},
		{"away", second(fails(302, "", "Location", "https://evil.test/steal")), pawl.CodeIO, "forge.redirected", nil},
		{"around in circles", second(repeat(7, fails(302, "", "Location", "/repos/acme/app/issues"))...), pawl.CodeIO,
			"forge.redirected", nil},
		{"a token in the answer", second(fails(422, "no, "+token+", no")), pawl.CodeInvalid, "forge.refused", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHub(t, 350)
			d := newDesk(t, h)
			h.script = c.script
			got, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{})
			if pawl.CodeOf(err) != c.code || err != nil && innermost(err).Key != c.key ||
				!slices.Equal(d.waits, c.waits) {
				t.Errorf("%v after waits of %v, want %s %s %v", err, d.waits, c.code, c.key, c.waits)
			}
			if err == nil && len(got.Backlog.Issues) != 350 {
				t.Errorf("%d issues", len(got.Backlog.Issues))
			}
			clear(t, err, d.events)
			for _, w := range d.waits {
				if !slices.ContainsFunc(d.events, func(p forge.Progress) bool { return p.Wait == w }) {
					t.Errorf("nothing was said about a wait of %v", w)
				}
			}
			h.mu.Lock()
			h.script = nil
			h.mu.Unlock()
			h.took()
			again, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{})
			if err != nil || len(again.Backlog.Issues) != 350 {
				t.Fatalf("afterwards: %d issues, %v", len(again.Backlog.Issues), err)
			}
			if asked := h.took(); !asked[0].conditional {
				t.Error("the first page was read again")
			}
		})
	}
}

// leads gives a page that names the one behind it.
func leads(to string) fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Link", "<"+to+`>; rel="next"`)
		_, _ = io.WriteString(w, "[]")
		return true
	}
}

func repeat(n int, f fault) []fault { return slices.Repeat([]fault{f}, n) }

func seconds(n ...int) (out []time.Duration) {
	for _, s := range n {
		out = append(out, time.Duration(s)*time.Second)
	}
	return out
}

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// innermost returns the last error of pawl's in a chain.
func innermost(err error) *pawl.Error {
	var e *pawl.Error
	for errors.As(err, &e) {
		next := e
		if err = e.Err; err == nil || !errors.As(err, &e) {
			return next
		}
	}
	return e
}

// clear fails the test unless an error and everything that was said can be read in both languages, has a next step and
// does not hold the token.
func clear(t *testing.T, err error, events []forge.Progress) {
	t.Helper()
	for _, l := range []message.Lang{message.English, message.Chinese} {
		for _, p := range events {
			if text := l.Text(p.Key, p.Args...); strings.Contains(text, "%!") || strings.HasPrefix(text, "forge.") ||
				strings.Contains(text, token) {
				t.Errorf("said %q", text)
			}
		}
		if err == nil {
			continue
		}
		text, hint := l.Error(err)
		if strings.Contains(text+hint+err.Error(), token) || strings.Contains(text+hint, "%!") || hint == "" ||
			strings.Contains(text, "forge.t") {
			t.Errorf("%q, %q", text, hint)
		}
	}
}

// How long a limit lasts is told by the server's clock: this machine's may be hours off.
func TestWrongClock(t *testing.T) {
	h := newHub(t, 1)
	d := newDesk(t, h)
	d.Now = func() time.Time { return h.now.Add(-5 * time.Hour) }
	h.script = []fault{fails(403, "API rate limit exceeded", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset",
		unix(h.now.Add(40*time.Second)))}
	if _, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{}); err != nil ||
		!slices.Equal(d.waits, seconds(41)) {
		t.Errorf("%v, %v", d.waits, err)
	}
}

// planted is a store of pages that somebody else wrote.
type planted struct{ forge.Page }

func (p planted) Load(string) (forge.Page, bool) { return p.Page, true }
func (p planted) Save(forge.Page) error          { return nil }

// A page that leads elsewhere, or is none, is not used even where it was kept.
func TestPlantedPages(t *testing.T) {
	h := newHub(t, 1)
	d := newDesk(t, h)
	for _, p := range []forge.Page{{ETag: `"x"`, Next: "https://evil.test/", Body: []byte("[]")},
		{ETag: `"x"`, Body: []byte("<html>")}, {ETag: `"x"`}} {
		d.Pages = planted{p}
		h.script = []fault{adds()}
		if got, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{}); err != nil ||
			got.Unconditional != 1 || len(got.Backlog.Issues) != 1 {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// An issue that moved to another repository is not the one that was depended on.
func TestMovedIssue(t *testing.T) {
	h := newHub(t, 2)
	d := newDesk(t, h)
	h.issues[0]["body"], h.issues[1]["state"] = "depends on #2", "closed"
	for there, want := range map[string]bool{"other/place": false, "Acme/App": true} {
		moved := `{"number":2,"title":"moved","state":"closed","html_url":"https://github.com/` + there + `/issues/2"}`
		d.Pages = nil
		h.script = []fault{nil, fails(301, "Moved Permanently", "Location", "/repositories/77/issues/2"), says(moved)}
		got, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{})
		if (err == nil) != want || want && len(got.Backlog.Issues) != 2 {
			t.Errorf("%s: %v", there, err)
		}
	}
}

// A run that is interrupted in a wait ends at once, and keeps what it has.
func TestInterrupted(t *testing.T) {
	h := newHub(t, 350)
	d := newDesk(t, h)
	ctx, stop := context.WithCancelCause(t.Context())
	d.Sleep = func(ctx context.Context, _ time.Duration) error {
		stop(errors.New("ctrl-c"))
		return context.Cause(ctx)
	}
	h.script = []fault{nil, nil, fails(429, "", "Retry-After", "600")}
	got, err := d.Import(ctx, forge.Query{Repo: acme}, backlog.Options{})
	if pawl.CodeOf(err) != pawl.CodeCanceled || got.Pages != 2 || got.Entries != 200 {
		t.Errorf("%+v, %v", got, err)
	}
	clear(t, err, d.events)
	h.took()
	again, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{})
	if err != nil || again.Unchanged != 2 || again.Unconditional != 2 || len(again.Backlog.Issues) != 350 {
		t.Errorf("%+v, %v", again, err)
	}
	dead, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := d.Import(dead, forge.Query{Repo: acme}, backlog.Options{}); pawl.CodeOf(err) != pawl.CodeTimeout {
		t.Errorf("%v", err)
	}
}

// What is kept is checked: a file that was damaged, or stands for another page, is read anew.
func TestKeptPages(t *testing.T) {
	h := newHub(t, 250)
	d := newDesk(t, h)
	dir := t.TempDir()
	d.Pages = forge.Dir{Path: dir}
	if _, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(dir + "/*.page")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		raw, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(raw), token) {
			t.Errorf("the token is in a file, or %v", err)
		}
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(files[0], []byte(strings.Replace(string(raw), "Issue", "Owned", 1)))
	write(files[1], raw)
	if err := os.Remove(files[2]); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	write(outside, []byte("mine"))
	if err := os.Symlink(outside, files[2]); err != nil {
		t.Fatal(err)
	}
	got, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{})
	if err != nil || got.Unconditional != 3 || len(got.Backlog.Issues) != 250 ||
		strings.Contains(got.Backlog.Issues[0].Title, "Owned") {
		t.Errorf("%d issues, %+v, %v", len(got.Backlog.Issues), got.Requests, err)
	}
	if got, err = d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{}); err != nil ||
		got.Unconditional != 0 {
		t.Errorf("%+v, %v", got.Unconditional, err)
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "mine" {
		t.Errorf("a link among the answers was written through: %q %v", text, err)
	}
	left, err := filepath.Glob(dir + "/.new-*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	write(dir+"/file", nil)
	d.Pages = forge.Dir{Path: dir + "/file"}
	if got, err = d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{}); err != nil ||
		got.Unsaved == nil || errors.Is(got.Unsaved, fs.ErrNotExist) {
		t.Errorf("%v, %v", got.Unsaved, err)
	}
}

// Without a token public repositories can be read; with none, or a wrong one, others cannot.
func TestTokens(t *testing.T) {
	h := newHub(t, 1)
	d := newDesk(t, h)
	d.Token = forge.Env(func(string) string { return "" })
	if got, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{}); err != nil ||
		len(got.Backlog.Issues) != 1 || h.took()[0].authorization != "" {
		t.Errorf("%v", err)
	}
	h.private = true
	_, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{})
	if innermost(err).Key != "forge.not_found_public" {
		t.Errorf("%v", err)
	}
	h.script = []fault{fails(http.StatusUnauthorized, "Requires authentication")}
	if _, err = d.Import(t.Context(), forge.Query{Repo: acme},
		backlog.Options{}); innermost(err).Key != "forge.token_needed" {
		t.Errorf("%v", err)
	}
	d.Token = forge.Env(func(name string) string { return map[string]string{"GH_TOKEN": " " + token + "\n"}[name] })
	if _, err = d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{}); err != nil {
		t.Errorf("%v", err)
	}
	h.took()
	d.Token = forge.Env(func(string) string { return token + "\r\nX-Evil: 1" })
	if _, err = d.Import(t.Context(), forge.Query{Repo: acme},
		backlog.Options{}); pawl.CodeOf(err) != pawl.CodeLogin || len(h.took()) > 0 {
		t.Errorf("%v", err)
	}
	clear(t, err, nil)
	for _, bad := range []string{"", "http://api.github.com", "https://user:pw@ghe.test/api/v3", "ftp://127.0.0.1",
		"https://ghe.test/?a=b", "://"} {
		d.Base = bad
		if _, err := d.Import(t.Context(), forge.Query{Repo: acme}, backlog.Options{}); innermost(err) == nil ||
			innermost(err).Key != "forge.base" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

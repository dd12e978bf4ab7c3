package forge_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pawl"
	"pawl/driver/forge"
	"pawl/internal/forgetest"
	"pawl/kernel/effect"
	"pawl/text/message"
)

// bad is an answer of a forge that is none of success, to what reads and to what writes. An empty code says that it
// passes.
type bad struct {
	name           string
	status         int
	header         [2]string
	says, body     string
	reads, writes  pawl.Code
	readKey        string
	writeKey, hint string
}

// answers are what forges answer with.
func answers() []bad {
	tomorrow := fmt.Sprint(time.Now().Add(24 * time.Hour).Unix())
	same := func(name string, status int, code pawl.Code, key, hint string, header ...string) bad {
		b := bad{name: name, status: status, reads: code, writes: code, readKey: key, writeKey: key, hint: hint}
		copy(b.header[:], header)
		return b
	}
	unknown := func(name string, status int) bad {
		b := same(name, status, pawl.CodeIO, "forge.server", "")
		b.writes, b.writeKey = pawl.CodeOutcomeUnknown, "forge.unknown_outcome"
		return b
	}
	exists := same("422 there already", 422, pawl.CodeInvalid, "forge.refused", "Correct")
	exists.says = "A pull request already exists for acme:pawl/T-001."
	nothing := same("422 nothing between", 422, pawl.CodeInvalid, "forge.refused", "Correct")
	nothing.says = "No commits between main and pawl/T-001"
	lab := same("409 as GitLab says it", 409, pawl.CodeConflict, "forge.conflict", "Look at it")
	lab.says = "Another open merge request already exists for this source branch: !1"
	lab.body = `{"message":{"base":[%q],"title":["is too long"]}}`
	return []bad{lab,
		same("401", 401, pawl.CodeLogin, "forge.token_refused", "THE_TOKEN"),
		same("403", 403, pawl.CodeDenied, "forge.forbidden", "the right"),
		same("403 spent", 403, pawl.CodeBusy, "forge.rate_limited", "Try again then", "Retry-After", "86400"),
		same("403 until tomorrow", 403, pawl.CodeBusy, "forge.rate_limited", "Try again then", "X-RateLimit-Reset", tomorrow),
		same("403 for single sign-on", 403, pawl.CodeLogin, "forge.sso", "https://sso.test", "X-GitHub-SSO",
			"required; url=https://sso.test"),
		same("404", 404, pawl.CodeNotFound, "forge.not_found", "spelling"),
		same("409", 409, pawl.CodeConflict, "forge.conflict", "Look at it"), exists, nothing,
		same("429", 429, pawl.CodeBusy, "forge.rate_limited", "Try again then", "Retry-After", "86400"),
		unknown("500", 500), unknown("502", 502), unknown("503", 503), unknown("504", 504),
		same("moved", 301, pawl.CodeIO, "forge.redirected", "not sent"), same("found", 302, pawl.CodeIO, "forge.redirected", "not sent"),
		same("moved for now", 307, pawl.CodeIO, "forge.redirected", "not sent"),
		same("moved for good", 308, pawl.CodeIO, "forge.redirected", "not sent"),
	}
}

// give answers in the hub's place, with what came to it as a token.
func (b bad) give(w http.ResponseWriter, r *http.Request, elsewhere string) {
	if b.header[0] != "" {
		w.Header().Set(b.header[0], b.header[1])
	}
	if b.header[0] == "X-RateLimit-Reset" {
		w.Header().Set("X-RateLimit-Remaining", "0")
	}
	if b.status/100 == 3 {
		w.Header().Set("Location", elsewhere+"/steal")
	}
	text := b.says + " " + strings.Join(strings.Fields(r.Header.Get("Authorization"))[1:], "")
	if b.body != "" {
		w.WriteHeader(b.status)
		fmt.Fprintf(w, b.body, text)
		return
	}
	forgetest.Say(w, b.status, text)
}

// Each answer of a forge that is none of success is a clear error with the next step, in which no token stands; the
// token goes nowhere else, and what was refused is done once when it is tried again.
func TestAnswers(t *testing.T) {
	var stolen atomic.Int64
	evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer evil.Close()
	everywhere(t, func(t *testing.T, b *bench) {
		if got := b.do(t, b.steps("body")[0]); !got.OK {
			t.Fatal(got.Err())
		}
		for _, a := range answers() {
			for _, writes := range []bool{false, true} {
				b.hub.Do(func() {
					b.hub.Pulls, b.hub.Statuses, b.hub.Checks, b.hub.Comments, b.hub.Writes = nil, nil, nil, nil, nil
				})
				want, key := a.reads, a.readKey
				if writes {
					want, key = a.writes, a.writeKey
				}
				for _, s := range b.steps("body")[1:] {
					b.hub.Do(func() {
						b.hub.Before = func(w http.ResponseWriter, r *http.Request) bool {
							if writes == (r.Method != http.MethodGet) {
								a.give(w, r, evil.URL)
								return true
							}
							return false
						}
					})
					got := b.do(t, s)
					if got.OK || got.Code != want || got.Key != key || strings.Contains(string(effect.Encode(got)), "test000") {
						t.Errorf("%s, writes %v, %s: %+v", a.name, writes, s.kind, got)
					}
					clear(t, got.Err(), nil)
					if text, hint := message.English.Error(got.Err()); !strings.Contains(hint, a.hint) ||
						a.says != "" && !strings.Contains(text, a.says) {
						t.Errorf("%s: %s\n%s", a.name, text, hint)
					}
					b.hub.Do(func() { b.hub.Before = nil })
					if got := b.do(t, s); !got.OK {
						t.Fatalf("after %s, %s: %v", a.name, s.kind, got.Err())
					}
				}
				if b.counts() != [3]int{1, 1, 1} || len(b.hub.Writes) != 3 {
					t.Errorf("%s: %v, %v", a.name, b.counts(), b.hub.Writes)
				}
			}
		}
	})
	if stolen.Load() > 0 {
		t.Errorf("%d requests went to another server", stolen.Load())
	}
}

// What passes is waited for or asked again: a limit that ends soon, an error of the server's, an answer that is cut off.
// An answer without an end is not read to it.
func TestPassing(t *testing.T) {
	endless := func(w http.ResponseWriter) {
		zeros := make([]byte, 1<<20)
		for range 1 << 10 {
			if _, err := w.Write(zeros); err != nil {
				return
			}
		}
	}
	everywhere(t, func(t *testing.T, b *bench) {
		if got := b.do(t, b.steps("body")[0]); !got.OK {
			t.Fatal(got.Err())
		}
		faults := map[string]func(w http.ResponseWriter){
			"a limit": func(w http.ResponseWriter) {
				w.Header().Set("Retry-After", "7")
				forgetest.Say(w, 429, "slow down")
			},
			"502":     func(w http.ResponseWriter) { forgetest.Say(w, 502, "down") },
			"cut off": func(w http.ResponseWriter) { cuts(w, nil) },
			"dropped": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		}
		for name, fault := range faults {
			b.hub.Do(func() {
				b.hub.Pulls, b.hub.Statuses, b.hub.Checks, b.hub.Comments, b.hub.Writes = nil, nil, nil, nil, nil
				met := map[string]bool{}
				b.hub.Before = func(w http.ResponseWriter, r *http.Request) bool {
					if at := r.Method + r.URL.Path; !met[at] && (r.Method == http.MethodGet || name == "a limit") {
						met[at] = true
						fault(w)
						return true
					}
					return false
				}
			})
			for _, s := range b.steps("body")[1:] {
				if got := b.do(t, s); !got.OK {
					t.Errorf("%s, %s: %v", name, s.kind, got.Err())
				}
			}
			if b.counts() != [3]int{1, 1, 1} || len(b.hub.Writes) != 3 {
				t.Errorf("%s: %v, %v", name, b.counts(), b.hub.Writes)
			}
		}
		b.hub.Do(func() {
			b.hub.Before = func(w http.ResponseWriter, _ *http.Request) bool { endless(w); return true }
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := b.do(t, b.steps("body")[1])
		runtime.ReadMemStats(&after)
		if got.OK || got.Key != "forge.malformed" || after.TotalAlloc-before.TotalAlloc > 300<<20 {
			t.Errorf("%d MiB for an answer without an end: %+v", (after.TotalAlloc-before.TotalAlloc)>>20, got)
		}
	})
}

// Where no request has left, it is known that nothing was done: a certificate that is not trusted, and nobody there.
func TestNothingLeft(t *testing.T) {
	everywhere(t, func(t *testing.T, b *bench) {
		secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			t.Error("the token was sent")
			_, _ = io.WriteString(w, "{}")
		}))
		defer secure.Close()
		secure.Config.ErrorLog = log.New(io.Discard, "", 0)
		secure.StartTLS()
		for base, want := range map[string]pawl.Code{secure.URL: pawl.CodeEnvironment, "http://127.0.0.1:1": pawl.CodeIO} {
			b.client.Base = base
			at, err := b.Connect(b.there)
			if err != nil {
				t.Fatal(err)
			}
			_, err = at.Open(t.Context(), forge.Request{Title: "Work", Body: "body", Head: "pawl/T-001", Base: "main"})
			if pawl.CodeOf(err) != want {
				t.Errorf("%s: %v", base, err)
			}
			clear(t, err, nil)
		}
	})
}

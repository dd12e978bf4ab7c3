package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/store/disk"
)

// How long a code and a visit are good for.
const (
	codeFor  = 2 * time.Minute
	visitFor = 12 * time.Hour
)

// maxVisits bounds how many visits there are at once; the oldest ends where there would be more.
const maxVisits = 100

// Door lets persons in. A code, which is good once and for a short time, is exchanged for a cookie. Codes are kept by
// their digests in a folder of the user's own state, so that another process can make one; who has entered is known to
// the server alone, and ends with it. It is safe for concurrent use.
type Door struct {
	dir    string
	now    func() time.Time
	mu     sync.Mutex
	visits map[string]visit
}

// visit is somebody who has entered.
type visit struct {
	person pawl.Actor
	until  time.Time
}

// kept is a code as it is kept.
type kept struct {
	Person pawl.Actor `json:"person"`
	Until  time.Time  `json:"until"`
}

// NewDoor returns the door of a workspace with its codes in dir, a folder that belongs to the user alone.
func NewDoor(dir string, now func() time.Time) *Door {
	return &Door{dir: dir, now: now, visits: map[string]visit{}}
}

// letters are those of codes: none looks like another.
var letters = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// Code makes a code for a person, who has to be one that gives commands by hand: what is done with it counts as the
// person's.
func (d *Door) Code(person pawl.Actor) (string, error) {
	if person.Kind() != pawl.KindUser {
		return "", pawl.Fail(pawl.CodeDenied, "web.enter.person", person.Name())
	}
	raw := make([]byte, 15)
	_, _ = rand.Read(raw) // it never fails
	code := letters.EncodeToString(raw)
	doc, err := json.Marshal(kept{person, d.now().Add(codeFor)})
	if err == nil {
		err = os.MkdirAll(d.dir, 0o700)
	}
	if err == nil {
		err = disk.WriteFile(d.file(code), doc)
	}
	if err != nil {
		return "", pawl.Fail(pawl.CodeIO, "cli.file_unwritable", d.dir).Because(err)
	}
	return strings.Join([]string{code[:6], code[6:12], code[12:18], code[18:]}, "-"), nil
}

// file is where a code is kept.
func (d *Door) file(code string) string {
	sum := sha256.Sum256([]byte(code))
	return filepath.Join(d.dir, hex.EncodeToString(sum[:]))
}

// take takes a code away and says whose it was; ok is false where it is unknown, was used or is too old.
func (d *Door) take(code string) (person pawl.Actor, ok bool) {
	code = strings.ToLower(strings.Join(strings.FieldsFunc(code, func(r rune) bool { return r == '-' || r == ' ' }), ""))
	raw, err := os.ReadFile(d.file(code))
	// Of two who come with the same code one can take it away.
	if err != nil || os.Remove(d.file(code)) != nil {
		return "", false
	}
	var k kept
	if json.Unmarshal(raw, &k) != nil || !d.now().Before(k.Until) {
		return "", false
	}
	return k.Person, true
}

// admit exchanges a code for the cookie of a visit.
func (d *Door) admit(code string) (*http.Cookie, bool) {
	person, ok := d.take(code)
	if !ok {
		return nil, false
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	name := hex.EncodeToString(raw)
	d.mu.Lock()
	defer d.mu.Unlock()
	now, oldest := d.now(), ""
	for key, v := range d.visits {
		switch {
		case !now.Before(v.until):
			delete(d.visits, key)
		case oldest == "" || v.until.Before(d.visits[oldest].until):
			oldest = key
		}
	}
	if len(d.visits) >= maxVisits {
		delete(d.visits, oldest)
	}
	d.visits[digest(name)] = visit{person, now.Add(visitFor)}
	// Not Secure: the pages are on this machine's own loopback, and not every browser takes that for a secure place.
	return &http.Cookie{Name: entered, Value: name, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}, true
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return string(sum[:])
}

// visitOf is the name of the visit that a request shows, by which it is known to nobody else.
func visitOf(r *http.Request) string {
	c, err := r.Cookie(entered)
	if err != nil {
		return ""
	}
	return digest(c.Value)
}

// who is the person who makes a request, "" for nobody who has entered.
func (d *Door) who(r *http.Request) pawl.Actor {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, ok := d.visits[visitOf(r)]
	if !ok || !d.now().Before(v.until) {
		return ""
	}
	return v.person
}

// enterPage asks for a code.
func (s *server) enterPage(w http.ResponseWriter, r *http.Request) {
	p := s.begin(r)
	s.write(w, r, p, enterView(p, ""))
}

// enter exchanges a code for a cookie.
func (s *server) enter(w http.ResponseWriter, r *http.Request) {
	p := s.begin(r)
	c, ok := s.Door.admit(r.PostFormValue("code"))
	if !ok {
		p.status = http.StatusForbidden
		s.write(w, r, p, enterView(p, "web.enter.wrong"))
		return
	}
	http.SetCookie(w, c)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// leave ends a visit.
func (s *server) leave(w http.ResponseWriter, r *http.Request) {
	s.Door.mu.Lock()
	delete(s.Door.visits, visitOf(r))
	s.Door.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: entered, Path: "/", MaxAge: -1, HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/enter", http.StatusSeeOther)
}

// Package login finds the logins that a person already has at the makers of coding agents, and lends them to the work
// of those agents' own unchanged programs.
//
// What is lent is a copy without the refresh token, in the work's own home, or the token alone through a pipe. The file
// that a login is kept in is read and never written, mounted or handed in: makers rotate refresh tokens, so that a copy
// which renews itself ends the login of its owner. It is renewed by the maker's own program, in the owner's home and
// outside of all walls, one at a time on the machine, and the copies follow (Keeper).
//
// pawl itself shows no token to anybody: what goes out is what the agent's program sends.
package login

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/wire"
)

// Kind says what a login is.
type Kind string

// The kinds of login.
const (
	Subscription Kind = "subscription" // a plan, by a token that is renewed
	Token        Kind = "token"        // a plan, by a token that lasts until it is taken back
	Key          Kind = "key"          // a key that is paid for by use
)

// secret is never written anywhere. Login sees to it that nothing which formats one shows it.
type secret string

// hidden stands for a secret in texts.
const hidden = "[token]"

// Login is what was found. Nothing of it that can be read from outside of this package is a secret.
type Login struct {
	// Agent is the name of the program in pawl's catalogue.
	Agent string
	Kind  Kind
	// Where is the file, or the variable with a $ in front.
	Where string
	// Email and Plan are what the login says of itself; either may be "".
	Email, Plan string
	// Expires is when the token ends, the zero time where nobody knows. Renewable says that the maker's program can get
	// another.
	Expires   time.Time
	Renewable bool
	// Model and Effort are those of the owner's own settings, "" for the program's defaults.
	Model, Effort string

	token secret
	// more is what a copy needs besides the token: the rest of the file, without what renews it.
	more map[string]any
}

// Who names the owner of a login as far as it is known: by the address, or else by the plan and the place.
func (l Login) Who() string {
	switch {
	case l.Email != "":
		return l.Email
	case l.Plan != "":
		return l.Plan + " (" + filepath.Base(l.Where) + ")"
	}
	return filepath.Base(l.Where)
}

// String and GoString keep the secrets of a login from everything that formats one.
func (l Login) String() string { return l.Agent + " " + string(l.Kind) + " " + l.Who() }

// GoString is String.
func (l Login) GoString() string { return l.String() }

// Left is how long the token lasts, and whether that is known.
func (l Login) Left(now time.Time) (time.Duration, bool) {
	return l.Expires.Sub(now), !l.Expires.IsZero()
}

// Source is where logins are looked for.
type Source struct {
	// Home is the user's home, and Env the user's environment.
	Home string
	Env  func(string) string
	// Workspace is the project, in which no login may lie: who can write there could change it.
	Workspace string
}

// folder is the one that a variable names, or else one below the home.
func (s Source) folder(variable string, below ...string) string {
	if dir := s.Env(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(append([]string{s.Home}, below...)...)
}

// Look finds the login that the owner of a program has. The error says exactly why there is none that can be used:
// CodeNotFound that nobody is logged in, CodeLogin that what is there is of no use, CodeInvalid that no logins of that
// program are known.
func Look(program string, s Source) (Login, error) {
	m, ok := makerOf(program)
	if !ok {
		return Login{}, pawl.Fail(pawl.CodeInvalid, "login.unknown", program).In("login.Look")
	}
	l, err := m.look(m, s)
	if err != nil {
		return Login{}, err
	}
	l.Agent = program
	if filepath.IsAbs(l.Where) && s.Workspace != "" && inside(l.Where, s.Workspace) {
		return Login{}, pawl.Fail(pawl.CodeDenied, "login.in_project", l.Where).In("login.Look")
	}
	return l, nil
}

// SignIn is the command with which a person logs in to a program, "" where none is known.
func SignIn(program string) string {
	m, _ := makerOf(program)
	return m.signIn
}

// Renewer is the name of the program that renews the login of a program, "" where there is none.
func Renewer(program string) string {
	if m, ok := makerOf(program); ok && m.renewal != nil {
		return m.renewal.program
	}
	return ""
}

// inside reports whether a path lies in a folder, however either is spelled.
func inside(path, dir string) bool {
	for _, p := range []string{path, real(path)} {
		for _, d := range []string{dir, real(dir)} {
			if rel, err := filepath.Rel(d, p); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

// Terms says to whom a login of a program is shown, by whom it is renewed, and whose terms hold.
type Terms struct {
	Maker    string
	Sites    []string
	Renewer  string
	Readable bool
	// Tunnel says that the program reaches its maker by a tunnel alone, whatever is set.
	Tunnel bool
}

// TermsOf returns what holds for a login of a program.
func TermsOf(p agent.Program, l Login) Terms {
	m, _ := makerOf(p.Name)
	out := Terms{Maker: m.name, Sites: m.sites, Tunnel: m.tunnelOnly && l.Kind != Key,
		Readable: !m.shape(p, l, options{}).unreadable}
	if l.Kind == Key {
		out.Sites = []string{m.keys}
	}
	if l.Renewable && m.renewal != nil {
		out.Renewer = m.renewal.program
	}
	return out
}

// maker is what is known of the logins of one maker's programs.
type maker struct {
	// name is the maker's.
	name     string
	programs []string
	// signIn is the command that logs in.
	signIn string
	look   func(m maker, s Source) (Login, error)
	// kind and upstream are the interface that the program speaks with its model, and where it is.
	kind     wire.Provider
	upstream string
	// keys is where keys are shown.
	keys string
	// sites are what the program connects to where it is let through a tunnel.
	sites []string
	// tunnelOnly says that the program goes there by itself, whatever address it is given.
	tunnelOnly bool
	// shape returns the program as it runs with a login, and the files of the copy.
	shape func(p agent.Program, l Login, o options) shaped
	// renewal gets another token, nil where only the owner can.
	renewal *renewal
}

// options are what a program is shaped by besides the login.
type options struct {
	now    time.Time
	tunnel bool
	model  string
	// upstream is where the model is, for a program that goes there itself.
	upstream string
	// elsewhere says that the user named that place.
	elsewhere bool
}

// shaped is a program that runs with a login.
type shaped struct {
	program agent.Program
	// copy is the credential's file below the home, where there is one.
	name string
	copy []byte
	// pipe says that the token goes through a pipe instead.
	pipe bool
	// unreadable says that commands of the agent do not find it.
	unreadable bool
	model      string
	// memory are files of the owner's below the home, by what they are read from.
	memory map[string]string
}

// makers are all that are known.
func makers() []maker {
	return []maker{codexMaker(), claudeMaker(), opencodeMaker()}
}

func makerOf(program string) (maker, bool) {
	all := makers()
	i := slices.IndexFunc(all, func(m maker) bool { return slices.Contains(m.programs, program) })
	if i < 0 {
		return maker{}, false
	}
	return all[i], true
}

// fail is an error of a login that cannot be used, with the command that mends it as the last argument.
func (m maker) fail(code pawl.Code, key string, args ...any) *pawl.Error {
	return pawl.Fail(code, key, append(args, m.signIn)...).In("login.Look")
}

// maxFile bounds the files that logins are kept in.
const maxFile = 256 << 10

// read reads a file that a login is kept in. Where there is none the error is CodeNotFound.
func (m maker) read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
		return nil, m.fail(pawl.CodeNotFound, "login.none", m.programs[0])
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is no regular file")
	case err == nil && info.Size() > maxFile:
		err = errors.New("it is too large")
	}
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, m.fail(pawl.CodeLogin, "login.unreadable", path).Because(err)
	}
	return raw, nil
}

// decode reads JSON. The error never shows a part of it.
func (m maker) decode(path string, raw []byte, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return m.fail(pawl.CodeLogin, "login.malformed", path)
	}
	return nil
}

// usable refuses what cannot be a token.
func (m maker) usable(where, token string) error {
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return m.fail(pawl.CodeLogin, "login.malformed", where)
	}
	return nil
}

// claims are those of a token of three parts. They are read to show them and to know its end, and nothing rests on
// them.
func claims(token string) map[string]any {
	parts := strings.Split(token, ".")
	out := map[string]any{}
	if len(parts) != 3 {
		return out
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err == nil {
		_ = json.Unmarshal(raw, &out) // a token that says nothing is one without claims
	}
	return out
}

// text is a member of an object, of objects below it, where it is a text that can be shown.
func text(from map[string]any, path ...string) string {
	for _, p := range path[:len(path)-1] {
		from, _ = from[p].(map[string]any)
	}
	s, _ := from[path[len(path)-1]].(string)
	return agent.Line(s)
}

package login

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/wire"
)

// AnyAccount is the consent to whatever account a login is of.
const AnyAccount = "any"

// Config is what a Keeper is made of.
type Config struct {
	Source
	// Agent is the name of the program, and Path where its own program for the renewal is, "" where it is not
	// installed.
	Agent, Path string
	// Account is whose login the user agreed to, as Login.Who names it, or AnyAccount.
	Account string
	// Tunnel lets the program connect to its maker itself instead of to pawl's gateway, whose provider is called
	// Provider.
	Tunnel   bool
	Provider string
	// Upstream replaces the address of the maker, for tests and for proxies of a company.
	Upstream string
	// Model replaces the owner's choice.
	Model string
	// Money says that a limit in money is set, which cannot hold, and Counted that one of tokens or requests is, which
	// cannot hold with a tunnel.
	Money, Counted bool
	// Need is how long a login has to last for one piece of work.
	Need time.Duration
	// State is the folder of the user's own state, in which the renewals wait for each other.
	State string
	// Run runs a program of the user's own as the user would run it.
	Run Run
	// Now is the clock.
	Now func() time.Time
}

// Keeper lends one login to the work of one program, sees to it that it is renewed, and knows the tokens that were
// lent. It is safe for concurrent use. It implements agent.Login and gateway.Pass.
type Keeper struct {
	config Config
	maker  maker

	mu      sync.Mutex
	lent    [][sha256.Size]byte // digests of the tokens that were lent, the newest last
	tokens  []secret            // the same, to be taken out of texts
	current secret
	renewed time.Time
	dead    map[[sha256.Size]byte]error // why tokens that were refused could not be renewed
	copies  map[*copyAt]bool
}

// copyAt is a copy in the home of some work. It is noted in the user's own state as long as it is there, so that one
// which a crash left behind can be found.
type copyAt struct{ home, name, noted string }

// copiesDir holds a note for each copy of a program's login.
func (k *Keeper) copiesDir() string { return copiesDir(k.config.State, k.config.Agent) }

func copiesDir(state, agent string) string { return filepath.Join(state, "login", "copies", agent) }

// noteName is the name of the note of the copy in a home.
func noteName(home string) string {
	sum := sha256.Sum256([]byte(home))
	return hex.EncodeToString(sum[:16])
}

// Forget removes every copy of a program's login that is noted, and returns how many there were.
func Forget(state, agent string) (int, error) {
	dir := copiesDir(state, agent)
	notes, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, pawl.Fail(pawl.CodeIO, "login.state", dir).Because(err).In("login.Forget")
	}
	gone := 0
	for _, n := range notes {
		raw, err := os.ReadFile(filepath.Join(dir, n.Name()))
		if err != nil {
			continue
		}
		home, name, _ := strings.Cut(string(raw), "\n")
		at := &copyAt{home: home, name: name, noted: filepath.Join(dir, n.Name())}
		if filepath.IsAbs(home) && filepath.IsLocal(name) && at.remove() {
			gone++
		}
	}
	return gone, nil
}

// maxLent is how many of the latest tokens are known.
const maxLent = 8

// NewKeeper returns the keeper of a program's login. Nothing is read before the first Lend. A program whose logins are
// not known is CodeInvalid.
func NewKeeper(c Config) (*Keeper, error) {
	m, ok := makerOf(c.Agent)
	if !ok {
		return nil, pawl.Fail(pawl.CodeInvalid, "login.unknown", c.Agent).In("login.NewKeeper")
	}
	return &Keeper{config: c, maker: m, copies: map[*copyAt]bool{}, dead: map[[sha256.Size]byte]error{}}, nil
}

// Kind is the interface that the program speaks with its maker, and Upstream where that is.
func (k *Keeper) Kind() wire.Provider { return k.maker.kind }
func (k *Keeper) Upstream() string    { return first(k.config.Upstream, k.maker.upstream) }

// KeyUpstream is where a key is shown, which is another place than that of the plans at some makers.
func (k *Keeper) KeyUpstream() string { return first(k.config.Upstream, k.maker.keys) }

// Look finds the login and compares it with what the user agreed to.
func (k *Keeper) Look() (Login, error) {
	l, err := Look(k.config.Agent, k.config.Source)
	if err != nil {
		return l, err
	}
	if a := k.config.Account; a != AnyAccount && a != l.Who() {
		return l, pawl.Fail(pawl.CodeDenied, "login.other_account", k.config.Agent, l.Who(), a).In("login.Look")
	}
	return l, nil
}

// Ready says what keeps the login from being lent, as far as that can be seen without a renewal.
func (k *Keeper) Ready() (Login, error) {
	l, err := k.Look()
	if err != nil {
		return l, err
	}
	if k.config.Money && l.Kind != Key {
		return l, pawl.Fail(pawl.CodeBudget, "login.money", k.config.Agent).In("login.Ready")
	}
	if k.config.Counted && k.tunnels(l) {
		return l, pawl.Fail(pawl.CodeBudget, "login.counted", k.config.Agent).In("login.Ready")
	}
	if left, known := l.Left(k.config.Now()); known && left <= 0 && !(l.Renewable && k.maker.renewal != nil) {
		return l, k.maker.fail(pawl.CodeLogin, "login.expired", l.Where, l.Expires.Local().Format(time.DateTime))
	}
	return l, nil
}

// Lend implements agent.Login.
func (k *Keeper) Lend(ctx context.Context, w agent.Borrower) (agent.Loan, error) {
	l, err := k.Ready()
	if err != nil {
		return agent.Loan{}, err
	}
	if left, known := l.Left(k.config.Now()); known && left < k.config.Need+margin && l.Renewable {
		if l, err = k.ahead(ctx, l); err != nil {
			return agent.Loan{}, err
		}
	}
	at := &copyAt{home: w.Home, noted: filepath.Join(k.copiesDir(), noteName(w.Home))}
	loan, err := k.loan(l, w, at)
	if err != nil {
		return agent.Loan{}, err
	}
	base := l
	loan.Fresh = func(ctx context.Context) (agent.Loan, bool) {
		if k.Refused(ctx, string(base.token)) != nil {
			return agent.Loan{}, false
		}
		now, err := k.Look()
		if err != nil || now.token == base.token {
			return agent.Loan{}, false
		}
		next, err := k.loan(now, w, at)
		if err != nil {
			return agent.Loan{}, false
		}
		base, next.Fresh, next.Return = now, loan.Fresh, loan.Return
		return next, true
	}
	loan.Return = func() {
		k.mu.Lock()
		delete(k.copies, at)
		k.mu.Unlock()
		at.remove()
	}
	return loan, nil
}

// margin is how long before its end programs take a token for ended.
const margin = 5 * time.Minute

// ahead renews a login that ends before the work may. One that lasts for a while and was not renewed will do: it is
// renewed when its maker refuses it.
func (k *Keeper) ahead(ctx context.Context, l Login) (Login, error) {
	next, err := k.renew(ctx, l.token)
	left, _ := l.Left(k.config.Now())
	switch {
	case err == nil:
		return next, nil
	case left > 0 && pawl.CodeOf(err) != pawl.CodeCanceled:
		return l, nil
	}
	return l, err
}

// loan makes the copy of a login.
func (k *Keeper) loan(l Login, w agent.Borrower, at *copyAt) (agent.Loan, error) {
	s := k.maker.shape(w.Program, l, options{now: k.config.Now(), tunnel: k.tunnels(l),
		model: first(w.Model, k.config.Model), upstream: k.Upstream(), elsewhere: k.config.Upstream != ""})
	out := agent.Loan{Program: s.program, Model: s.model, SignIn: k.maker.signIn, Account: l.Who(),
		Readable: !s.unreadable, Files: remembered(s.memory, s.program, w.Tree), Hide: k.Hide}
	if k.tunnels(l) {
		out.Sites = k.sites()
	} else {
		out.Provider = k.config.Provider
	}
	k.lend(l.token)
	if s.pipe {
		out.Secret, out.SecretFD = []byte(l.token), secretFD
	}
	if s.name == "" {
		return out, nil
	}
	at.name = s.name
	if err := at.write(s.copy); err != nil {
		return agent.Loan{}, pawl.Fail(pawl.CodeIO, "agent.no_home", k.config.Agent).Because(err).In("login.Lend")
	}
	k.mu.Lock()
	k.copies[at] = true
	k.mu.Unlock()
	return out, nil
}

// tunnels reports whether the program reaches its maker by itself with a login.
func (k *Keeper) tunnels(l Login) bool {
	return (k.config.Tunnel || k.maker.tunnelOnly) && l.Kind != Key
}

// sites are where a program connects to by itself: its maker's places, or the one that the user named in their stead.
func (k *Keeper) sites() []string {
	u, err := url.Parse(k.config.Upstream)
	if k.config.Upstream == "" || err != nil {
		return k.maker.sites
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80"}[u.Scheme]
	}
	return []string{net.JoinHostPort(u.Hostname(), first(port, "443"))}
}

// lend notes a token that is lent.
func (k *Keeper) lend(token secret) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.current = token
	if slices.Contains(k.tokens, token) {
		return
	}
	k.tokens, k.lent = append(k.tokens, token), append(k.lent, sha256.Sum256([]byte(token)))
	if over := len(k.lent) - maxLent; over > 0 {
		k.tokens, k.lent = k.tokens[over:], k.lent[over:]
	}
}

// Accepts reports whether a token was lent, in a time that says nothing of how near it is to one.
func (k *Keeper) Accepts(token string) bool {
	sum := sha256.Sum256([]byte(token))
	k.mu.Lock()
	defer k.mu.Unlock()
	found := 0
	for _, d := range k.lent {
		found |= subtle.ConstantTimeCompare(d[:], sum[:])
	}
	return found == 1
}

// Hide takes the tokens that were lent out of a text.
func (k *Keeper) Hide(text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.tokens {
		text = strings.ReplaceAll(text, string(t), hidden)
	}
	return text
}

// Key returns the key of a login that is one: then the gateway shows it and the agent has none.
func (k *Keeper) Key() (string, error) {
	l, err := k.Look()
	if err == nil && l.Kind != Key {
		err = k.maker.fail(pawl.CodeLogin, "login.none", k.config.Agent)
	}
	if err != nil {
		return "", err
	}
	return string(l.token), nil
}

// tooSoon is how soon after a renewal a refusal means that it is of no use to renew again.
const tooSoon = time.Minute

// Refused renews a login whose token the maker does not accept, and puts the new one into the copies.
func (k *Keeper) Refused(ctx context.Context, token string) error {
	k.mu.Lock()
	newer, soon, dead := k.current != secret(token), !k.renewed.IsZero() &&
		k.config.Now().Sub(k.renewed) < tooSoon, k.dead[sha256.Sum256([]byte(token))]
	k.mu.Unlock()
	switch {
	case newer:
		return nil
	case dead != nil:
		return dead
	case soon:
		return k.maker.fail(pawl.CodeLogin, "login.refused", k.config.Agent)
	}
	l, err := k.renew(ctx, secret(token))
	if err != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.dead[sha256.Sum256([]byte(token))] = err
		return err
	}
	k.lend(l.token)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.renewed = k.config.Now()
	for at := range k.copies {
		s := k.maker.shape(agent.Program{Kind: kindOf(k.config.Agent)}, l, options{now: k.config.Now()})
		if err := at.write(s.copy); err != nil {
			return pawl.Fail(pawl.CodeIO, "agent.no_home", k.config.Agent).Because(err).In("login.Renew")
		}
	}
	return nil
}

func kindOf(program string) agent.Kind {
	p, _ := agent.Known(program)
	return p.Kind
}

// write puts a copy into its place by a rename, so that a program which reads it meanwhile sees the old one or the new
// one. The agent may have left anything in its home: no link leads out of it.
func (c *copyAt) write(data []byte) error {
	if c.noted != "" {
		if err := errors.Join(os.MkdirAll(filepath.Dir(c.noted), 0o700),
			os.WriteFile(c.noted, []byte(c.home+"\n"+c.name), 0o600)); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(c.home)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(c.name), 0o700); err != nil {
		return err
	}
	beside := c.name + "." + rand.Text()
	f, err := root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		_ = root.Remove(beside)
		return err
	}
	if info, err := root.Lstat(c.name); err == nil && info.IsDir() {
		_ = root.RemoveAll(c.name)
	}
	if err := root.Rename(beside, c.name); err != nil {
		_ = root.Remove(beside)
		return err
	}
	return nil
}

// remove takes a copy away, with what a write that was cut off has left, and reports whether there was one.
func (c *copyAt) remove() (gone bool) {
	if c.name == "" {
		return false
	}
	defer func() { _ = os.Remove(c.noted) }()
	root, err := os.OpenRoot(c.home)
	if err != nil {
		return false
	}
	defer root.Close()
	if _, err := root.Lstat(c.name); err == nil {
		gone = root.RemoveAll(c.name) == nil
	}
	left, _ := fs.Glob(root.FS(), c.name+".*")
	for _, name := range left {
		_ = root.Remove(name)
	}
	return gone
}

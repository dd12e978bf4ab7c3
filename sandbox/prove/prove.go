// Package prove tries each wall of a Box from inside, on canaries of its own: what a command must not reach, read,
// change or use up. It tells more than that the walls came to stand.
package prove

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/sandbox"
)

// The walls by name. The catalogue has a text for each that holds and each that does not: "sandbox.held_" and
// "sandbox.open_" with the name.
const (
	Sockets = "sockets"
	Home    = "home"
	Secrets = "secrets"
	Links   = "links"
	Network = "network"
	Limits  = "limits"
)

// Names lists them in the order in which they are shown.
var Names = []string{Sockets, Network, Home, Secrets, Links, Limits}

// Proof is what came of the tries at one wall.
type Proof struct {
	Name string
	Held bool
}

// What this program is started with, behind walls: the flag and a canaries, or the flag and hog.
const (
	flag = "--pawl-prove"
	hog  = "hog"
)

// memory is what the command that takes too much may have.
const memory = 64 << 20

// secret stands in what must not be read.
const secret = "canary of pawl"

// canaries are what is tried.
type canaries struct {
	Socket, Address  string
	Home, Tree, Link string // folders, and a file in the tree
}

// Child turns this process into the command that tries, when All has started it as one, and does not return then. It
// must be called after sandbox.Child in main, and in TestMain of packages whose tests prove walls.
func Child() {
	if len(os.Args) != 3 || os.Args[1] != flag {
		return
	}
	if os.Args[2] == hog {
		var all [][]byte
		for range 16 {
			all = append(all, bytes.Repeat([]byte{1}, memory/4))
		}
		time.Sleep(10 * time.Second)
		os.Exit(len(all))
	}
	var c canaries
	if json.Unmarshal([]byte(os.Args[2]), &c) != nil {
		os.Exit(1)
	}
	for name, got := range map[string]func() bool{Sockets: func() bool { return c.sent("unix", c.Socket) },
		Network: func() bool { return c.sent("tcp", c.Address) },
		Home:    func() bool { return read(c.Home) }, Secrets: func() bool { return read(c.Tree) },
		Links: func() bool { return os.WriteFile(c.Link, []byte("changed"), 0o600) != nil }} {
		if got() {
			fmt.Println(name)
		}
	}
	fmt.Println("tried")
	os.Exit(0)
}

// sent reports whether a word can be sent to a server.
func (c canaries) sent(network, at string) bool {
	conn, err := net.DialTimeout(network, at, time.Second)
	if err != nil {
		return false
	}
	_, err = io.WriteString(conn, "stolen")
	_ = conn.Close()
	return err == nil
}

// read reports whether the secret can be read in a folder, on any of several ways.
func read(dir string) bool {
	for _, way := range []string{"", "/proc/self/root"} {
		for _, name := range []string{".env", "packages/app/.env"} {
			if b, err := os.ReadFile(filepath.Join(way+dir, name)); err == nil && strings.Contains(string(b), secret) {
				return true
			}
		}
	}
	return false
}

// All tries every wall of a Box. It takes some tenths of a second. An error means that commands do not run.
func All(ctx context.Context, box *sandbox.Box) ([]Proof, error) {
	base, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(base, 0o700)
	}
	if err != nil {
		base = "" // private to commands as well
	}
	dir, err := os.MkdirTemp(base, "pawl-prove-")
	if err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "sandbox.unproved").Because(err).In("prove.All")
	}
	defer os.RemoveAll(dir)
	c := canaries{Home: filepath.Join(dir, "home"), Tree: filepath.Join(dir, "tree"),
		Socket: filepath.Join(dir, "shown", "renamed")}
	c.Link = filepath.Join(c.Tree, "link")
	outside := filepath.Join(dir, "outside")
	exe, err := c.lay(outside)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "sandbox.unproved").Because(err).In("prove.All")
	}
	var heard ears
	defer heard.close()
	if err := heard.listen(&c); err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "sandbox.unproved").Because(err).In("prove.All")
	}
	what, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	s := sandbox.Spec{Argv: []string{exe, flag, string(what)}, Dir: c.Tree, Writable: []string{c.Tree},
		Readable: []string{exe, filepath.Dir(c.Socket)}, Env: sandbox.Environ(os.Environ(), nil),
		Timeout: 20 * time.Second}
	res, err := box.Run(ctx, s)
	if err == nil && !strings.HasSuffix(string(res.Output), "tried\n") {
		err = pawl.Fail(pawl.CodeEnvironment, "sandbox.unproved").In("prove.All")
	}
	if err != nil {
		return nil, err
	}
	got := strings.Fields(string(res.Output))
	if b, err := os.ReadFile(outside); err != nil || string(b) != secret {
		got = append(got, Links)
	}
	got = append(got, heard.all()...)
	s.Argv, s.MaxMemory = []string{exe, flag, hog}, memory
	if res, err := box.Run(ctx, s); err != nil || res.Limit == "" {
		got = append(got, Limits)
	}
	var out []Proof
	for _, name := range Names {
		out = append(out, Proof{name, !slices.Contains(got, name)})
	}
	return out, nil
}

// lay makes the canaries, and returns this program.
func (c canaries) lay(outside string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	for _, name := range []string{filepath.Join(c.Home, ".env"), filepath.Join(c.Tree, ".env"),
		filepath.Join(c.Tree, "packages/app/.env"), outside, c.Socket} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return "", err
		}
		if name == c.Socket {
			break
		}
		if err := os.WriteFile(name, []byte(secret), 0o600); err != nil {
			return "", err
		}
	}
	return exe, os.Link(outside, c.Link)
}

// ears are the servers, and which of them heard something.
type ears struct {
	mu    sync.Mutex
	heard []string
	open  []net.Listener
	done  sync.WaitGroup
}

// listen starts them. The one with a name in the file system is renamed, so that no list has its name.
func (e *ears) listen(c *canaries) error {
	local, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	e.hear(Network, local)
	c.Address = local.Addr().String()
	first := filepath.Join(filepath.Dir(c.Socket), "first")
	named, err := net.Listen("unix", first)
	if err != nil {
		return err
	}
	e.hear(Sockets, named)
	return os.Rename(first, c.Socket)
}

func (e *ears) hear(name string, l net.Listener) {
	e.open = append(e.open, l)
	e.done.Go(func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
			if b, _ := io.ReadAll(conn); len(b) > 0 {
				e.mu.Lock()
				e.heard = append(e.heard, name)
				e.mu.Unlock()
			}
			_ = conn.Close()
		}
	})
}

func (e *ears) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard)
}

func (e *ears) close() {
	for _, l := range e.open {
		_ = l.Close()
	}
	e.done.Wait()
}

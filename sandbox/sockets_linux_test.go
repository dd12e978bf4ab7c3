package sandbox

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// caller sends a word to each socket that it is told of, by every call that can, and prints which of them worked.
func caller() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		for _, at := range strings.Fields(in.Text()) {
			for _, network := range []string{"unix", "unixpacket", "unixgram"} {
				if c, err := net.DialTimeout(network, at, time.Second); err == nil {
					if _, err := c.Write([]byte("stolen")); err == nil {
						fmt.Println("WORKED:", network, at)
					}
					_ = c.Close()
				}
			}
			sendTo(at)
		}
		fmt.Println("called")
	}
}

// sendTo sends datagrams to a name without connecting.
func sendTo(at string) {
	for _, pair := range []bool{false, true} {
		var s int
		var err error
		if pair {
			var both [2]int
			both, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
			s = both[0]
		} else {
			s, err = unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		}
		if err != nil {
			continue
		}
		if unix.Sendto(s, []byte("stolen"), 0, &unix.SockaddrUnix{Name: at}) == nil {
			fmt.Println("WORKED: sendto", at)
		}
		if _, err := unix.SendmsgN(s, []byte("stolen"), nil, &unix.SockaddrUnix{Name: at}, 0); err == nil {
			fmt.Println("WORKED: sendmsg", at)
		}
	}
}

// heard is what reached any of the servers of a test.
type heard struct {
	mu   sync.Mutex
	what []string
}

func (h *heard) add(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.what = append(h.what, string(p))
}

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.what...)
}

// serve listens at a path until the test ends.
func (h *heard) serve(t *testing.T, network, at string) {
	t.Helper()
	if network == "unixgram" {
		c, err := net.ListenPacket(network, at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		go func() {
			b := make([]byte, 64)
			for n, _, err := c.ReadFrom(b); err == nil; n, _, err = c.ReadFrom(b) {
				h.add(b[:n])
			}
		}()
		return
	}
	l, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go func() {
				b, _ := io.ReadAll(c)
				if len(b) > 0 {
					h.add(b)
				}
				c.Close()
			}()
		}
	}()
}

// serveElsewhere listens in a network namespace of its own, and says so on its output.
func serveElsewhere() {
	l, err := net.Listen("unix", os.Getenv("AT"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listening")
	for c, err := l.Accept(); err == nil; c, err = l.Accept() {
		if b, _ := io.ReadAll(c); len(b) > 0 {
			fmt.Printf("heard %q\n", b)
		}
		c.Close()
	}
}

// elsewhere starts such a server. Heard is filled with what it hears.
func (h *heard) elsewhere(t *testing.T, at string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{role + "=elsewhere", "AT=" + at}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "listening\n" {
		t.Fatal(line, err)
	}
	go func() {
		for line, err := lines.ReadString('\n'); err == nil; line, err = lines.ReadString('\n') {
			h.add([]byte(line))
		}
	}()
}

// Nothing that listens outside can be reached by its name, however and whenever the name came about and wherever it is:
// among what can be read, or in the folder that the command works in.
func TestNamedSockets(t *testing.T) {
	mechanisms(t, func(t *testing.T, m Mechanism) {
		out := outside(t)
		b := box(t, Options{Mechanism: m})
		s := self(t, "caller")
		s.Readable, s.Timeout = append(s.Readable, out), 50*time.Second
		var h heard
		var at []string
		make := func(when string) {
			for _, dir := range []string{out, s.Dir} {
				p := func(name string) string {
					at = append(at, filepath.Join(dir, when+name))
					return at[len(at)-1]
				}
				h.serve(t, "unix", p("plain"))
				h.serve(t, "unixpacket", p("packet"))
				h.serve(t, "unixgram", p("datagram"))
				h.elsewhere(t, p("elsewhere"))
				t.Chdir(dir)
				h.serve(t, "unix", when+"relative")
				p("relative")
				old := filepath.Join(dir, when+"before")
				h.serve(t, "unix", old)
				if err := os.Rename(old, p("renamed")); err != nil {
					t.Fatal(err)
				}
				h.serve(t, "unix", old)
				if err := os.Link(old, p("linked")); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(old, p("symbolic")); err != nil {
					t.Fatal(err)
				}
			}
		}
		make("early-")
		p, err := b.Start(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(p.Stdout)
		call := func() {
			_, _ = io.WriteString(p.Stdin, strings.Join(at, " ")+"\n")
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatalf("%q %v", line, err)
				}
				if line == "called\n" {
					return
				}
				t.Error(line)
			}
		}
		call()
		make("late-")
		call()
		p.Stdin.Close()
		if r, err := p.Wait(); err != nil || r.Exit != 0 {
			t.Errorf("%+v %v", r, err)
		}
		time.Sleep(20 * time.Millisecond)
		if got := h.all(); len(got) > 0 {
			t.Errorf("servers outside heard %q", got)
		}
	})
}

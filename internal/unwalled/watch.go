//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// sentry watches over what is not the tests' own: the system's files and settings, its mounts, files beside those of
// the tests, a process, and servers that nobody has to do with.
type sentry struct {
	files   map[string]string // fingerprint by path, of the system's folders and of the canaries
	state   string            // settings of the kernel and mounts
	dir     string            // where the canaries are
	sleeper *exec.Cmd
	gone    chan error // gets how the sleeper ended
	servers []net.Listener
	visits  atomic.Int64
}

// watched are the folders in which nothing may change. In the home directory only what stands directly in it and its
// settings are looked at: the caches of the tools that run the tests lie deeper.
var watched = []string{"/etc", "/usr", "/boot", "/opt", "/root", "/home", "/srv"}

// watch takes down how things are.
func watch() (*sentry, error) {
	dir, err := os.MkdirTemp("", "canary-*")
	if err != nil {
		return nil, err
	}
	s := &sentry{dir: dir, gone: make(chan error, 1)}
	for _, name := range []string{".netrc", "file", "below/file"} {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755),
			os.WriteFile(p, []byte("canary"), 0o644)); err != nil {
			return nil, err
		}
	}
	s.sleeper = exec.Command("sleep", "86400")
	if err := s.sleeper.Start(); err != nil {
		return nil, err
	}
	go func() { s.gone <- s.sleeper.Wait() }()
	for _, at := range []string{"tcp=127.0.0.1:0", "unix=" + filepath.Join(dir, "socket")} {
		network, addr, _ := strings.Cut(at, "=")
		l, err := net.Listen(network, addr)
		if err != nil {
			return nil, err
		}
		s.servers = append(s.servers, l)
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				s.visits.Add(1)
				_ = c.Close()
			}
		}()
	}
	s.files, s.state = s.look()
	return s, nil
}

func (s *sentry) close() {
	for _, l := range s.servers {
		_ = l.Close()
	}
	_ = s.sleeper.Process.Kill()
	_ = os.RemoveAll(s.dir)
}

// harm lists what is not as it was, at most ten things, and takes what there is now for how things are.
func (s *sentry) harm() []string {
	var out []string
	files, state := s.look()
	for p, was := range s.files {
		if now, ok := files[p]; !ok {
			out = append(out, p+" is gone")
		} else if now != was {
			out = append(out, p+" was changed")
		}
	}
	for p := range files {
		if _, ok := s.files[p]; !ok {
			out = append(out, p+" is new")
		}
	}
	if state != s.state {
		out = append(out, fmt.Sprintf("settings or mounts: %s, were %s", state, s.state))
	}
	if n := s.visits.Swap(0); n > 0 {
		out = append(out, fmt.Sprintf("%d connections to servers that are not the tests'", n))
	}
	select {
	case err := <-s.gone:
		out = append(out, fmt.Sprintf("a process that is not the tests' has ended: %v", err))
	default:
	}
	s.files, s.state = files, state
	slices.Sort(out)
	return out[:min(len(out), 10)]
}

func (s *sentry) look() (files map[string]string, state string) {
	files = map[string]string{}
	for _, dir := range append([]string{s.dir, "/"}, watched...) {
		_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // it may not be looked into, or belongs to who is writing there now
			}
			deep := strings.Count(strings.TrimPrefix(p, dir), "/")
			own := dir == "/root" || dir == "/home"
			if d.IsDir() && (dir == "/" && p != "/" || own &&
				(deep > 2 || slices.Contains([]string{".cache", ".npm", "go"}, d.Name()))) {
				return fs.SkipDir
			}
			if info, err := d.Info(); err == nil && !d.IsDir() {
				files[p] = fingerprint(info)
			}
			return nil
		})
	}
	for _, name := range []string{"/proc/sys/kernel/hostname", "/proc/sys/kernel/core_pattern",
		"/sys/kernel/mm/ksm/run"} {
		text, _ := os.ReadFile(name)
		state += strings.TrimSpace(string(text)) + " "
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	return files, state + fmt.Sprint(strings.Count(string(mounts), "\n"), " mounts")
}

// fingerprint changes with every change of a file: the kernel sets the time of its last change by itself.
func fingerprint(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Sprint(info.Mode(), info.Size(), info.ModTime())
	}
	return fmt.Sprint(info.Mode(), info.Size(), st.Ino, st.Uid, st.Ctim)
}

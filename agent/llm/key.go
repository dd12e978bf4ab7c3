package llm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"pawl"
)

// maxKey bounds a key, in bytes.
const maxKey = 8 << 10

// Keys says where a key is. It is read each time that it is needed and kept nowhere.
type Keys struct {
	// Env names a variable, Entry an entry of the system's keyring, which comes first, and File a file, which comes
	// before both. With none of them there is no key.
	Env, Entry, File string
	Getenv           func(string) string
	Ring             func(ctx context.Context, entry string) (string, error)
	// Workspace is the project. Home is the user's home: that it is a repository itself does not make it a project.
	Workspace, Home string
}

// Read returns the key. CodeLogin says that there is none where one should be, and CodeDenied that the file is open to
// others or part of a project: a key that somebody else can read or write is not the user's alone.
func (k Keys) Read() (string, error) {
	switch {
	case k.File != "":
		return k.file()
	case k.Entry != "":
		key, err := k.Ring(context.Background(), k.Entry)
		if err != nil {
			return "", err
		}
		return key, usable(key, k.Entry)
	case k.Env == "":
		return "", nil
	}
	key := strings.TrimSpace(k.Getenv(k.Env))
	if key == "" {
		return "", pawl.Fail(pawl.CodeLogin, "llm.no_key", k.Env).In("llm.Key")
	}
	return key, usable(key, "$"+k.Env)
}

func (k Keys) file() (string, error) {
	if !filepath.IsAbs(k.File) {
		return "", pawl.Fail(pawl.CodeInvalid, "llm.key_file",
			k.File).Because(errors.New("the path is not absolute")).In("llm.Key")
	}
	real, err := filepath.EvalSymlinks(k.File)
	if err != nil {
		return "", pawl.Fail(pawl.CodeLogin, "llm.key_file", k.File).Because(err).In("llm.Key")
	}
	for _, p := range []string{k.File, real} {
		if project := k.project(p); project != "" {
			return "", pawl.Fail(pawl.CodeDenied, "llm.key_in_project", k.File, project).In("llm.Key")
		}
	}
	raw, err := readSmall(real, maxKey)
	if err != nil {
		return "", pawl.Fail(pawl.CodeLogin, "llm.key_file", k.File).Because(err).In("llm.Key")
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", pawl.Fail(pawl.CodeLogin, "llm.key_file", k.File).Because(err).In("llm.Key")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", pawl.Fail(pawl.CodeDenied, "llm.key_file_open", k.File).In("llm.Key")
	}
	key := strings.TrimSpace(string(raw))
	if key == "" {
		return "", pawl.Fail(pawl.CodeLogin, "llm.key_file",
			k.File).Because(errors.New("the file is empty")).In("llm.Key")
	}
	return key, usable(key, k.File)
}

// usable refuses what cannot be a key, before a header is made of it. The error does not show it.
func usable(key, where string) error {
	for _, r := range key {
		if r <= ' ' || r > '~' {
			return pawl.Fail(pawl.CodeLogin, "llm.bad_key", where).In("llm.Key")
		}
	}
	return nil
}

// project returns the project that a path lies in: the workspace, or a folder that is one of git or of pawl, "" for
// none.
func (k Keys) project(path string) string {
	if k.Workspace != "" {
		roots := []string{k.Workspace}
		if real, err := filepath.EvalSymlinks(k.Workspace); err == nil {
			roots = append(roots, real)
		}
		for _, root := range roots {
			if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
				return root
			}
		}
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if dir != k.Home {
			for _, mark := range []string{".git", ".pawl"} {
				if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
					return dir
				}
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// Transport returns what carries requests: over the proxies that the environment names, trusting the machine's
// certificates and those of a PEM file, if one is named. Answers are never unpacked, so that a small one cannot become
// a large one.
func Transport(caFile string) (http.RoundTripper, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		raw, err := readSmall(caFile, 4<<20)
		if err != nil {
			return nil, pawl.Fail(pawl.CodeEnvironment, "llm.ca_file", caFile).Because(err).In("llm.Transport")
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(raw) {
			return nil, pawl.Fail(pawl.CodeInvalid, "llm.ca_file",
				caFile).Because(errors.New("no certificate in PEM form")).In("llm.Transport")
		}
		config.RootCAs = pool
	}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second,
			KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig: config, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
		DisableCompression:  true,
		MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 256 << 10,
	}, nil
}

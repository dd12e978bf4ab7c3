package forge

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"pawl"
)

// maxToken bounds a token, in bytes.
const maxToken = 8 << 10

// Env returns what reads the token from the first of these variables that is set, each time that it is needed. Without
// names they are GITHUB_TOKEN and GH_TOKEN. No token is none: public repositories can be read without.
func Env(getenv func(string) string, names ...string) func() (string, error) {
	if len(names) == 0 {
		names = []string{"GITHUB_TOKEN", "GH_TOKEN"}
	}
	return func() (string, error) {
		for _, name := range names {
			if token := strings.TrimSpace(getenv(name)); token != "" {
				return usable(token, name)
			}
		}
		return "", nil
	}
}

// Ring returns what reads the token from an entry of the user's keyring, once for all requests of a client.
func Ring(read func(ctx context.Context, entry string) (string, error), entry string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		token, err := read(context.Background(), entry)
		if err != nil {
			return "", err
		}
		return usable(strings.TrimSpace(token), entry)
	})
}

// usable is a token that can be sent. Name is where it was found.
func usable(token, name string) (string, error) {
	bad := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(token) > maxToken || strings.ContainsFunc(token, bad) {
		return "", pawl.Fail(pawl.CodeLogin, "forge.bad_token", name).In("forge.Token")
	}
	return token, nil
}

// Transport returns what carries requests: over the proxies that the environment names, trusting the machine's
// certificates and those of a PEM file, if one is named.
func Transport(caFile string) (http.RoundTripper, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = http.ProxyFromEnvironment
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	t.ResponseHeaderTimeout = time.Minute
	t.MaxResponseHeaderBytes = 256 << 10
	if caFile == "" {
		return t, nil
	}
	raw, err := os.ReadFile(caFile)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeEnvironment, "forge.ca_file", caFile).Because(err).In("forge.Transport")
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(raw) {
		return nil, pawl.Fail(pawl.CodeInvalid, "forge.ca_file",
			caFile).Because(errors.New("no certificate in PEM form")).In("forge.Transport")
	}
	t.TLSClientConfig.RootCAs = pool
	return t, nil
}

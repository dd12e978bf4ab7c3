package forge

import (
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"pawl"
)

// Repo is a repository on GitHub or on a GitHub Enterprise server.
type Repo struct {
	// Host is "" for github.com.
	Host        string
	Owner, Name string
}

var (
	ownerForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?$`) })
	nameForm  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`) })
	hostForm  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?$`)
	})
)

// ParseRepo reads OWNER/NAME or HOST/OWNER/NAME, with github: in front or without, or the address of a repository or of
// its list of issues.
func ParseRepo(text string) (Repo, error) {
	s := strings.TrimSpace(text)
	s = strings.TrimPrefix(s, "github:")
	if rest, ok := strings.CutPrefix(s, "https://"); ok {
		s = strings.TrimSuffix(strings.TrimSuffix(rest, "/"), "/issues")
		s = strings.TrimPrefix(s, "www.")
	}
	parts := strings.Split(strings.TrimSuffix(s, ".git"), "/")
	var r Repo
	switch len(parts) {
	case 2:
		r = Repo{Owner: parts[0], Name: parts[1]}
	case 3:
		r = Repo{Host: strings.ToLower(parts[0]), Owner: parts[1], Name: parts[2]}
	}
	if r.Host == "github.com" {
		r.Host = ""
	}
	if !ownerForm().MatchString(r.Owner) || !nameForm().MatchString(r.Name) || r.Name == "." || r.Name == ".." ||
		r.Host != "" && !hostForm().MatchString(r.Host) {
		return Repo{}, pawl.Fail(pawl.CodeUsage, "forge.repository", text).In("forge.ParseRepo")
	}
	return r, nil
}

// String returns OWNER/NAME, with the host in front where it is not github.com.
func (r Repo) String() string {
	if r.Host == "" {
		return r.Owner + "/" + r.Name
	}
	return r.Host + "/" + r.Owner + "/" + r.Name
}

// API returns the usual address of the API that serves the repository.
func (r Repo) API() string {
	if r.Host == "" {
		return "https://api.github.com"
	}
	return "https://" + r.Host + "/api/v3"
}

// base checks the address of an API. The token goes there, so the way must be encrypted, unless it does not leave the
// machine.
func base(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(text, "/"))
	bad := err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != ""
	if bad || u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())) {
		return nil, pawl.Fail(pawl.CodeInvalid, "forge.base").In("forge.Client")
	}
	return u, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// same reports whether an address belongs to the same server as the API's.
func same(u, api *url.URL) bool { return u.Scheme == api.Scheme && u.Host == api.Host && u.User == nil }

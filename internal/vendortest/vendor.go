// Package vendortest is a maker of agents on loopback, for tests: it knows one account, renews its login with a refresh
// token that it replaces each time, and lets a scripted model answer who shows the token of the moment.
package vendortest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/internal/modeltest"
)

// Email and Account are the account's.
const (
	Email   = "ada@example.org"
	Account = "acc-0001"
)

// Vendor is the maker. It is safe for concurrent use.
type Vendor struct {
	URL   string
	Model *modeltest.Server

	mu       sync.Mutex
	access   string
	refresh  string
	expires  time.Time
	life     time.Duration
	number   int
	spent    map[string]bool
	revoked  bool
	status   int           // answers every call of a model with it, where it is set
	silent   bool          // answers no call of a model
	slow     time.Duration // passes between a renewal and its answer
	renewals []bool        // whether each was granted
	refused  int           // calls with another token than that of the moment
	seen     []http.Header
	done     chan struct{}
}

// Go starts a maker for a test, whose model plays a script, and whose tokens live for so long.
func Go(t testing.TB, s modeltest.Script, life time.Duration) *Vendor {
	t.Helper()
	v := &Vendor{Model: modeltest.Go(t, s), life: life, spent: map[string]bool{}, done: make(chan struct{})}
	v.issue()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: v, ReadHeaderTimeout: 10 * time.Second}
	v.URL = "http://" + l.Addr().String()
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { close(v.done); _ = srv.Close() })
	return v
}

// issue makes the next tokens. The caller holds mu, or is alone.
func (v *Vendor) issue() {
	if v.refresh != "" {
		v.spent[v.refresh] = true
	}
	v.number++
	v.expires = time.Now().Add(v.life)
	v.access = Token(v.number, v.expires)
	v.refresh = fmt.Sprintf("rt-%d-%s", v.number, strings.Repeat("r", 24))
}

// Token is a token of three parts, with claims and without a signature.
func Token(n int, expires time.Time) string {
	claims, _ := json.Marshal(map[string]any{
		"exp": expires.Unix(), "jti": n, "email": Email,
		"https://api.openai.com/auth": map[string]any{"chatgpt_account_id": Account, "chatgpt_plan_type": "plus"},
	})
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"none"}`)) + "." + part(claims) + "." + part([]byte("unsigned"))
}

// CodexFile is the file of a login of Codex as it is at the moment.
func (v *Vendor) CodexFile() []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	raw, _ := json.Marshal(map[string]any{"auth_mode": "chatgpt", "OPENAI_API_KEY": nil,
		"last_refresh": time.Now().UTC().Format(time.RFC3339),
		"tokens": map[string]any{"id_token": v.access, "access_token": v.access, "refresh_token": v.refresh,
			"account_id": Account}})
	return raw
}

// ClaudeFile is the file of a login of Claude Code as it is at the moment.
func (v *Vendor) ClaudeFile() []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	raw, _ := json.Marshal(map[string]any{"claudeAiOauth": map[string]any{"accessToken": v.access,
		"refreshToken": v.refresh, "expiresAt": v.expires.UnixMilli(),
		"scopes": []string{"user:inference", "user:profile"}, "subscriptionType": "max", "rateLimitTier": "default"}})
	return raw
}

// Holds reports whether the file of a login still is one: what renews it is what the maker wants to see next.
func (v *Vendor) Holds(file []byte) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.revoked && strings.Contains(string(file), v.refresh)
}

// Access is the token of the moment, and Secrets are all that were ever given out.
func (v *Vendor) Access() string { v.mu.Lock(); defer v.mu.Unlock(); return v.access }

// Secrets are the tokens that must be found nowhere.
func (v *Vendor) Secrets() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := []string{v.access, v.refresh}
	for r := range v.spent {
		out = append(out, r)
	}
	return out
}

// Drop stops accepting the token of the moment, which can be renewed.
func (v *Vendor) Drop() { v.mu.Lock(); defer v.mu.Unlock(); v.access = "dropped" }

// Revoke ends the login for good.
func (v *Vendor) Revoke() { v.mu.Lock(); defer v.mu.Unlock(); v.revoked, v.access = true, "revoked" }

// Answer has every call of a model answered with a status, 0 for the model's own answers.
func (v *Vendor) Answer(status int) { v.mu.Lock(); defer v.mu.Unlock(); v.status = status }

// Silence has no call of a model answered.
func (v *Vendor) Silence() { v.mu.Lock(); defer v.mu.Unlock(); v.silent = true }

// Slow has a renewal take so long after it was granted.
func (v *Vendor) Slow(d time.Duration) { v.mu.Lock(); defer v.mu.Unlock(); v.slow = d }

// Renewals are the renewals so far, and whether each was granted; Refused is how many calls showed another token.
func (v *Vendor) Renewals() []bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]bool(nil), v.renewals...)
}

// Refused is how many calls showed another token than that of the moment.
func (v *Vendor) Refused() int { v.mu.Lock(); defer v.mu.Unlock(); return v.refused }

// Headers are those of the calls of models.
func (v *Vendor) Headers() []http.Header {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]http.Header(nil), v.seen...)
}

// ServeHTTP implements http.Handler.
func (v *Vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/oauth/token") {
		v.renew(w, r)
		return
	}
	v.mu.Lock()
	ok := r.Header.Get("Authorization") == "Bearer "+v.access && time.Now().Before(v.expires)
	status, silent := v.status, v.silent
	v.seen = append(v.seen, r.Header.Clone())
	if !ok {
		v.refused++
	}
	v.mu.Unlock()
	switch {
	case silent:
		select {
		case <-r.Context().Done():
		case <-v.done:
		}
	case !ok:
		problem(w, http.StatusUnauthorized, "authentication_error", "the token is not accepted")
	case status == http.StatusTooManyRequests:
		problem(w, status, "usage_limit_reached", "The usage limit has been reached")
	case status != 0:
		problem(w, status, "server_error", "scripted status")
	default:
		v.Model.ServeHTTP(w, r)
	}
}

// renew gives new tokens for the refresh token of the moment. One that was spent ends nothing here, and gets nothing.
func (v *Vendor) renew(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	var asked struct {
		Refresh string `json:"refresh_token"`
	}
	if json.Unmarshal(raw, &asked) != nil {
		form, _ := url.ParseQuery(string(raw))
		asked.Refresh = form.Get("refresh_token")
	}
	v.mu.Lock()
	granted := !v.revoked && asked.Refresh == v.refresh
	v.renewals = append(v.renewals, granted)
	if granted {
		v.issue()
	}
	access, refresh, slow, spent := v.access, v.refresh, v.slow, v.spent[asked.Refresh]
	v.mu.Unlock()
	if !granted {
		code := "refresh_token_invalidated"
		if spent {
			code = "refresh_token_reused"
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": code, "message": code}})
		return
	}
	select {
	case <-time.After(slow):
	case <-v.done:
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"access_token": access, "refresh_token": refresh, "id_token": access, "expires_in": int(v.life / time.Second),
		"token_type": "Bearer", "scope": "user:inference user:profile",
	})
}

func problem(w http.ResponseWriter, status int, kind, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "error",
		"error": map[string]string{"type": kind, "message": text}})
}

// Renew does to the file of a login of Codex what the maker's program does to it: it asks for new tokens with the
// refresh token that is in it, and puts a new file into its place. A login that the maker refuses leaves the file as it
// is.
func (v *Vendor) Renew(file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var f struct {
		Tokens struct {
			Refresh string `json:"refresh_token"`
		} `json:"tokens"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return err
	}
	body, _ := json.Marshal(map[string]string{"grant_type": "refresh_token", "refresh_token": f.Tokens.Refresh})
	resp, err := http.Post(v.URL+"/oauth/token", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	if err := os.WriteFile(file+".new", v.CodexFile(), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

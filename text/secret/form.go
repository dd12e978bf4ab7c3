package secret

import (
	"slices"
	"strings"
	"sync"
)

// Rules with a name that others use.
const (
	RuleKnown      = "env"         // a value that is known, from a file that nobody is to read
	RuleAssigned   = "assigned"    // a value behind a name that says that it is secret
	RulePrivateKey = "private-key" // a key in PEM
	RuleURL        = "url-password"
)

// form is how a token begins and what it is made of.
type form struct {
	name  string
	lead  string
	of    string // the letters behind the lead, each "a" to "z" and so on of a range that is named below
	least int    // how many of them there are at least
	// most is how many there are at most, 0 for any number.
	most int
	// bits is the entropy that those letters have at least; 0 stands for usual.
	bits float64
	// end, where it is set, finds where a token ends that has a form of its own. From is where the secret begins.
	end func(text string, at int) (from, to int)
}

// usual is the entropy of letters that were drawn; words of a language have less.
const usual = 2.8

// The letters that tokens are made of.
const (
	digits = "0123456789"
	hex    = digits + "abcdef"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnum  = digits + lower + upper
	word   = alnum + "_-"
	dotted = word + "."
	b64    = alnum + "+/="
)

// forms are the known ones. A lead that begins another stands behind it.
var forms = []form{
	{name: "aws-access-key", lead: "AKIA", of: digits + upper, least: 16, most: 16},
	{name: "aws-access-key", lead: "ASIA", of: digits + upper, least: 16, most: 16},
	{name: "aws-bedrock-key", lead: "ABSK", of: b64, least: 109},
	{name: "gcp-api-key", lead: "AIza", of: word, least: 30, most: 40},
	{name: "gcp-oauth-secret", lead: "GOCSPX-", of: word, least: 24},
	{name: "gcp-access-token", lead: "ya29.", of: dotted, least: 20},
	{name: "azure-storage-key", lead: "AccountKey=", of: b64, least: 80},
	{name: "github-token", lead: "github_pat_", of: alnum + "_", least: 20},
	{name: "github-token", lead: "ghp_", of: alnum, least: 20},
	{name: "github-token", lead: "gho_", of: alnum, least: 20},
	{name: "github-token", lead: "ghu_", of: alnum, least: 20},
	{name: "github-token", lead: "ghs_", of: alnum, least: 20},
	{name: "github-token", lead: "ghr_", of: alnum, least: 20},
	{name: "gitlab-token", lead: "glpat-", of: dotted, least: 16},
	{name: "gitlab-token", lead: "gldt-", of: word, least: 16},
	{name: "gitlab-token", lead: "glrt-", of: word, least: 16},
	{name: "gitlab-token", lead: "glcbt-", of: word, least: 16},
	{name: "gitlab-token", lead: "glptt-", of: word, least: 16},
	{name: "gitlab-token", lead: "glft-", of: word, least: 16},
	{name: "slack-token", lead: "xoxa-", of: word, least: 10},
	{name: "slack-token", lead: "xoxb-", of: word, least: 10},
	{name: "slack-token", lead: "xoxe-", of: word, least: 10},
	{name: "slack-token", lead: "xoxe.", of: dotted, least: 10},
	{name: "slack-token", lead: "xoxp-", of: word, least: 10},
	{name: "slack-token", lead: "xoxr-", of: word, least: 10},
	{name: "slack-token", lead: "xoxs-", of: word, least: 10},
	{name: "slack-token", lead: "xapp-", of: word, least: 20},
	{name: "slack-webhook", lead: "hooks.slack.com/services/", of: alnum + "/", least: 30},
	{name: "discord-webhook", lead: "discord.com/api/webhooks/", of: word + "/", least: 60},
	{name: "anthropic-key", lead: "sk-ant-", of: word, least: 20},
	{name: "openai-key", lead: "sk-proj-", of: word, least: 20},
	{name: "openai-key", lead: "sk-svcacct-", of: word, least: 20},
	{name: "openrouter-key", lead: "sk-or-", of: word, least: 20},
	{name: "openai-key", lead: "sk-", of: word, least: 20, bits: 3.5},
	{name: "public-key-token", lead: "pk-", of: word, least: 20, bits: 3.5},
	{name: "restricted-key", lead: "rk-", of: word, least: 20, bits: 3.5},
	{name: "huggingface-token", lead: "hf_", of: alnum, least: 30},
	{name: "groq-key", lead: "gsk_", of: alnum, least: 40},
	{name: "xai-key", lead: "xai-", of: alnum, least: 40},
	{name: "perplexity-key", lead: "pplx-", of: alnum, least: 40},
	{name: "replicate-token", lead: "r8_", of: word, least: 37},
	{name: "npm-token", lead: "npm_", of: alnum, least: 30},
	{name: "pypi-token", lead: "pypi-AgEIcHlwaS5vcmc", of: word, least: 40},
	{name: "rubygems-key", lead: "rubygems_", of: hex, least: 40},
	{name: "docker-token", lead: "dckr_pat_", of: word, least: 20},
	{name: "stripe-key", lead: "sk_live_", of: alnum, least: 16},
	{name: "stripe-key", lead: "rk_live_", of: alnum, least: 16},
	{name: "stripe-key", lead: "sk_test_", of: alnum, least: 16},
	{name: "stripe-webhook", lead: "whsec_", of: b64, least: 24},
	{name: "shopify-token", lead: "shpat_", of: hex + "ABCDEF", least: 32},
	{name: "shopify-token", lead: "shpss_", of: hex + "ABCDEF", least: 32},
	{name: "square-token", lead: "sq0atp-", of: word, least: 20},
	{name: "square-token", lead: "sq0csp-", of: word, least: 40},
	{name: "sendgrid-key", lead: "SG.", of: dotted, least: 60},
	{name: "mailgun-key", lead: "key-", of: hex, least: 32, most: 32},
	{name: "digitalocean-token", lead: "dop_v1_", of: hex, least: 60},
	{name: "digitalocean-token", lead: "doo_v1_", of: hex, least: 60},
	{name: "heroku-key", lead: "HRKU-", of: word, least: 36},
	{name: "fly-token", lead: "FlyV1 fm2_", of: b64 + ",_", least: 60},
	{name: "netlify-token", lead: "nfp_", of: alnum, least: 36},
	{name: "linear-key", lead: "lin_api_", of: alnum, least: 32},
	{name: "notion-token", lead: "ntn_", of: alnum, least: 40},
	{name: "figma-token", lead: "figd_", of: word, least: 36},
	{name: "atlassian-token", lead: "ATATT3", of: word + "=", least: 60},
	{name: "newrelic-key", lead: "NRAK-", of: alnum, least: 24},
	{name: "grafana-token", lead: "glsa_", of: alnum + "_", least: 36},
	{name: "sentry-token", lead: "sntrys_", of: b64 + "_", least: 40},
	{name: "sentry-token", lead: "sntryu_", of: hex, least: 60},
	{name: "databricks-token", lead: "dapi", of: hex, least: 32},
	{name: "vault-token", lead: "hvs.", of: word, least: 24},
	{name: "vault-token", lead: "hvb.", of: word, least: 24},
	{name: "pulumi-token", lead: "pul-", of: hex, least: 40},
	{name: "doppler-token", lead: "dp.pt.", of: alnum, least: 40},
	{name: "age-key", lead: "AGE-SECRET-KEY-1", of: digits + upper, least: 50},
	{name: "tailscale-key", lead: "tskey-", of: word, least: 20},
	{name: "planetscale-token", lead: "pscale_", of: dotted, least: 32},
	{name: "supabase-token", lead: "sbp_", of: hex, least: 40},
	{name: "postman-key", lead: "PMAK-", of: word, least: 50},
	{name: "jwt", lead: "eyJ", end: tokenEnd},
	{name: "bearer", lead: "Bearer ", end: bearerEnd},
	{name: "bearer", lead: "bearer ", end: bearerEnd},
	{name: "bearer", lead: "Basic ", end: bearerEnd},
	{name: "bearer", lead: "basic ", end: bearerEnd},
	{name: "bearer", lead: "Authorization:", end: headerEnd},
	{name: "bearer", lead: "authorization:", end: headerEnd},
	{name: "bearer", lead: "AUTHORIZATION:", end: headerEnd},
	{name: RuleURL, lead: "://", end: passwordEnd},
	{name: RulePrivateKey, lead: keyLead, end: keyEnd},
}

// names are those of all rules.
var names = sync.OnceValue(func() []string {
	out := []string{RuleKnown, RuleAssigned}
	for _, f := range forms {
		out = append(out, f.name)
	}
	return out
})

const minLead = 3

// byLead are the forms by the two bytes that their leads begin with, so that most places of a text are left at one
// look.
var byLead = sync.OnceValue(func() *[1 << 16][]*form {
	var out [1 << 16][]*form
	for i, f := range forms {
		at := uint16(f.lead[0])<<8 | uint16(f.lead[1])
		out[at] = append(out[at], &forms[i])
	}
	return &out
})

// formAt finds the token that begins at a place of a text, of those whose leads begin as it does.
func formAt(text string, at int, with []*form) (Finding, bool) {
	for _, f := range with {
		within := at > 0 && inWord(text[at-1]) && f.lead[0] != '-' && f.lead[0] != ':'
		if within || !strings.HasPrefix(text[at:], f.lead) {
			continue
		}
		if f.end != nil {
			if from, to := f.end(text, at+len(f.lead)); to > from {
				value := text[from:to]
				return Finding{f.name, from, to, pretended(value) || f.name == RuleURL && weak(value)}, true
			}
			continue
		}
		from := at + len(f.lead)
		n := run(text, from, f.of)
		least := f.bits
		if least == 0 {
			least = usual
		}
		if f.of == hex {
			least = min(least, 2.5)
		}
		if n < f.least || f.most > 0 && n > f.most || entropy(text[from:from+n]) < least {
			continue
		}
		return Finding{f.name, at, from + n, pretended(text[from : from+n])}, true
	}
	return Finding{}, false
}

// maxToken bounds a token. A certificate in a token may be long; a text without an end is none.
const maxToken = 8 << 10

func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// run is the length of what a text holds from a place on of some letters, up to a bound.
func run(text string, at int, of string) int {
	part := text[at:min(len(text), at+maxToken)]
	return len(part) - len(strings.TrimLeft(part, of))
}

// tokenEnd finds a JSON web token: three parts with dots between them, of which the first two are JSON.
func tokenEnd(text string, at int) (from, to int) {
	to = at
	for part := range 3 {
		n := run(text, to, word)
		if n < 8 {
			return 0, 0
		}
		if to += n; part < 2 {
			if to >= len(text) || text[to] != '.' {
				return 0, 0
			}
			to++
		}
	}
	return at - len("eyJ"), to
}

// bearerEnd finds what stands behind the name of a way to log in.
func bearerEnd(text string, at int) (from, to int) {
	n := run(text, at, dotted+"~+/=")
	value := text[at : at+n]
	if n < 16 || !strings.ContainsAny(value, digits) || entropy(value) < usual {
		return 0, 0
	}
	return at, at + n
}

// loginSchemes are the ways to log in that stand before a login in a header.
var loginSchemes = []string{"basic", "bearer", "digest", "negotiate", "token", "apikey"}

// headerEnd finds a login in the header Authorization: after the name of a scheme any long word is one.
func headerEnd(text string, at int) (from, to int) {
	from = at + run(text, at, " \t")
	to = from + run(text, from, dotted+"~+/=")
	least := 16
	if slices.Contains(loginSchemes, strings.ToLower(text[from:to])) {
		from, least = to+run(text, to, " \t"), minKnown
		to = from + run(text, from, dotted+"~+/=")
	}
	if to-from < least || least > minKnown && !strings.ContainsAny(text[from:to], digits) {
		return 0, 0
	}
	return from, to
}

// passwordEnd finds the password of an address, or a token in the place of a user.
func passwordEnd(text string, at int) (from, to int) {
	rest := text[at:min(len(text), at+maxToken)]
	host := strings.IndexAny(rest, "/ \t\r\n\"'<>`?#")
	if host < 0 {
		host = len(rest)
	}
	end := strings.LastIndexByte(rest[:host], '@')
	if end < 0 {
		return 0, 0
	}
	user, password, ok := strings.Cut(rest[:end], ":")
	switch {
	case !ok && (len(user) < 16 || entropy(user) < usual):
		return 0, 0
	case !ok:
		return at, at + end
	case password == "" || strings.ContainsAny(password, "[{$%"):
		return 0, 0
	}
	return at + len(user) + 1, at + end
}

// weak reports whether a password keeps nobody out.
func weak(password string) bool {
	return len(password) < 6 || slices.Contains(usualPasswords, password)
}

// usualPasswords are those that stand in the manual of every database, and keep nobody out.
var usualPasswords = []string{"password", "passwd", "pass", "pwd", "secret", "postgres", "root", "admin", "user",
	"guest", "mysql", "redis", "test", "token", "foobar", "example"}

// keyEnd finds a private key from its first line to its last. Where the last line is missing, as in what was cut off,
// the key goes on for as long as its lines look like one.
func keyEnd(text string, at int) (from, to int) {
	line, ok := keyName(text[at:])
	if !ok {
		return 0, 0
	}
	to = at + len(line) + len("-----")
	body := text[to:min(len(text), to+maxHeld)]
	end := "-----END " + line + "-----"
	if n := strings.Index(body, end); n >= minKey {
		return at - len(keyLead), to + n + len(end)
	}
	n := 0
	for l := range strings.Lines(body) {
		if n > 0 && !inKey(l) {
			break
		}
		n += len(l)
	}
	if n < minKey {
		return 0, 0
	}
	return at - len(keyLead), to + n
}

const keyLead = "-----BEGIN "

// keyName is what the first line of a private key calls it.
func keyName(text string) (string, bool) {
	line, _, ok := strings.Cut(text[:min(len(text), 80)], "-----")
	return line, ok && (strings.HasSuffix(line, "PRIVATE KEY") || strings.HasSuffix(line, "PRIVATE KEY BLOCK"))
}

// inKey reports whether a line may stand in a private key: of its letters alone, or a header.
func inKey(line string) bool {
	line = strings.Trim(line, " \t\r\n")
	name, _, header := strings.Cut(line, ": ")
	return strings.Trim(line, b64) == "" || header && strings.Trim(name, lower+upper+"-") == ""
}

// minKey is the length from which what stands between the two lines may be a key.
const minKey = 40

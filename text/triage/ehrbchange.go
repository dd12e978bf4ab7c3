package triage

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pawl/text/pattern"
	"pawl/text/plan"
	"pawl/text/policy"
)

// secretValue are forms of secrets as their issuers make them.
var secretValue = pattern.New(`AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{40,}|sk-[A-Za-z0-9_-]{20,}|sk_live_[A-Za-z0-9]{16,}|xox[baprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{35}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}|-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----`)

// secretGiven finds a name of a secret with its value.
var secretGiven = pattern.New(`(?i)(?:password|passwd|pwd|secret(?:[_-]?key)?|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|密码|口令|密钥|令牌)["']?\s*(?::=|=|:|：|是|为)\s*["'“]?([^\s"'<>{}$,;，。；”()\x60]{8,})`)

// pretended are parts of values that are none.
var pretended = pattern.New(`(?i)example|changeme|change_me|your[-_]|placeholder|redacted|dummy|fake|sample|xxx|\*\*\*|\.\.\.|test|env\.|environ|getenv|config\.|process\.|secrets\.|vault|null|none|string|required|optional|<|>|hunter2`)

// secretsIn finds secret values in a clause. Where they stand and why does not matter: they are readable there.
func (d *detector) secretsIn(c clause) { d.secretValues(d.span(c.start, c.end), StanceAction) }

func (d *detector) secretValues(at Span, stance Stance) {
	text := at.In(d.src)
	put := func(i, j int) {
		s := Span{at.Start + i, at.Start + j}
		d.found = append(d.found, Finding{Kind: RiskSecret, Quote: s.In(d.src), Span: s, Stance: stance})
	}
	if hasAny(text, []string{"AKIA", "gh", "sk-", "sk_", "xox", "AIza", "eyJ", "-----BEGIN"}) {
		for _, m := range secretValue.Get().FindAllStringIndex(text, -1) {
			if !pretended.Get().MatchString(text[m[0]:m[1]]) {
				put(m[0], m[1])
			}
		}
	}
	for _, m := range secretGiven.Get().FindAllStringSubmatchIndex(text, -1) {
		if v := text[m[2]:m[3]]; looksSecret(v) && !pretended.Get().MatchString(v) {
			put(m[0], m[3])
		}
	}
}

// looksSecret reports whether a value is more than a word: letters with digits or signs, and no call or path.
func looksSecret(v string) bool {
	letters, digits, signs := false, false, false
	for _, r := range v {
		switch {
		case r >= '0' && r <= '9':
			digits = true
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			letters = true
		case strings.ContainsRune("!@#%^&*+?~", r):
			signs = true
		case strings.ContainsRune("[]/\\|", r) || r > 0x7f:
			return false
		}
	}
	return letters && (digits || signs) && !versionLike.Get().MatchString(v)
}

var versionLike = pattern.New(`^[A-Za-z]+[._-]?v?\d+(?:\.\d+)*$`)

// DetectChange finds what is of extremely high risk in a change of one file: its path, and the lines that it adds.
// Where says "path" or "content" of each finding. In documentation, tests and comments dangerous commands and
// statements are mentions; secret values are actions everywhere but in tests.
func DetectChange(name string, op policy.Op, added string) []Placed {
	if op == policy.OpRead {
		return nil
	}
	var out []Placed
	for _, row := range pathRules() {
		if row.match.MatchString(name) && (row.not == nil || !row.not.MatchString(name)) {
			out = append(out, Placed{"path", Finding{Kind: row.kind, Quote: name, Span: Span{0, len(name)},
				Stance: StanceAction}})
		}
	}
	for _, f := range detectContent(name, added) {
		out = append(out, Placed{"content", f})
	}
	return out
}

type pathRule struct {
	kind       RiskKind
	match, not *regexp.Regexp
}

var pathRules = sync.OnceValue(func() []pathRule {
	return []pathRule{
		{RiskSecret, regexp.MustCompile(`(?i)(?:^|/)(?:\.env(?:\.[\w-]+)?|id_rsa|id_ed25519|id_ecdsa|credentials(?:\.json|\.ya?ml)?|\.npmrc|\.pypirc|\.netrc|\.pgpass|secrets?\.(?:ya?ml|json|toml))$|\.(?:pem|p12|pfx|key|keystore|jks)$`),
			regexp.MustCompile(`(?i)example|sample|template|\.dist$|testdata/|(?:^|/)tests?/|fixtures?/`)},
		{RiskProduction, regexp.MustCompile(`(?i)(?:^|/)prod(?:uction)?/|(?:^|[/._-])prod(?:uction)?\.(?:ya?ml|json|toml|env|tf|tfvars|ini|conf|properties|js|ts|py|rb|config)$`), regexp.MustCompile(`(?i)\.md$|testdata/|(?:^|/)(?:tests?|docs)/|_test\.|\.test\.|node_modules`)},
	}
})

type fileClass uint8

const (
	codeFile fileClass = iota
	docFile
	testFile
	sqlFile
	shellFile
)

var (
	docName   = pattern.New(`(?i)\.(?:md|mdx|rst|adoc|txt|html?)$|(?:^|/)docs?/|(?:^|/)(?:readme|changelog|license)`)
	testName  = pattern.New(`(?i)_test\.\w+$|(?:^|/)test_[^/]+$|\.(?:test|spec)\.\w+$|(?:^|/)(?:tests?|testdata|fixtures?|__tests__|spec|mocks?)/`)
	shellName = pattern.New(`(?i)\.(?:sh|bash|zsh|ksh)$|(?:^|/)(?:makefile|dockerfile[^/]*|containerfile|jenkinsfile|procfile|justfile)$|(?:^|/)\.github/workflows/|\.gitlab-ci\.ya?ml$|\.mk$`)
)

func classOf(name string) fileClass {
	switch {
	case testName.Get().MatchString(name):
		return testFile
	case docName.Get().MatchString(name):
		return docFile
	case strings.EqualFold(path.Ext(name), ".sql"):
		return sqlFile
	case shellName.Get().MatchString(name):
		return shellFile
	}
	return codeFile
}

var (
	// lineLead is what stands before a command in a line of a recipe, a workflow or a Dockerfile.
	lineLead = pattern.New(`^\s*(?:- )?(?:run:\s*[|>]?-?|RUN|CMD|ENTRYPOINT|script:|command:|-|@-?|\+)?\s*`)
	remark   = pattern.New(`^\s*(?:#|//|--|/\*|\*|<!--|;|"""|''')|^\s*rem\s`)

	codeSQL   = pattern.New(`\b(?:DROP\s+(?:TABLE|DATABASE|SCHEMA)|drop\s+(?:table|database)|TRUNCATE(?:\s+TABLE)?\s+\w|truncate\s+table)\s*\w*|\b(?:DELETE\s+FROM|delete\s+from)\s+\w+["'\x60;)\s]*$`)
	codeRules = sync.OnceValue(func() []textRule {
		return []textRule{
			{kind: RiskDataLoss, match: regexp.MustCompile(`["']rm["']\s*,\s*["']-\w*[rR]|\bos\.system\(\s*["']rm\s+-\w*r|\brmtree\(\s*["']/|os\.RemoveAll\(\s*"/"?|\bdropDatabase\(`)},
			{kind: RiskAuth, match: regexp.MustCompile(`InsecureSkipVerify:\s*true|\bverify\s*=\s*False\b|rejectUnauthorized["']?\s*:\s*false|NODE_TLS_REJECT_UNAUTHORIZED|CURLOPT_SSL_VERIFYPEER\s*,\s*(?:0|false)|ssl\._create_unverified_context|StrictHostKeyChecking[= ]no|csrf_exempt|skip_before_action :authenticate`)},
			{kind: RiskPrivilege, match: regexp.MustCompile(`(?i)\bchmod\([^)\n]*,\s*0?o?0?777\b|\bMkdirAll\([^)\n]*,\s*0?o?777\b|privileged:\s*true|\bUSER\s+root\b`)},
		}
	})
)

// detectContent finds what the added lines of a file hold.
func detectContent(name, added string) []Finding {
	class := classOf(name)
	d := detector{folded: folded{src: added}}
	stance := StanceAction
	if class == docFile || class == testFile {
		stance = StanceMention
	}
	at := 0
	for line := range strings.Lines(added) {
		d.line(class, Span{at, at + len(strings.TrimRight(line, "\r\n"))}, stance)
		at += len(line)
	}
	secrets := StanceAction
	if class == testFile {
		secrets = StanceMention
	}
	d.secretValues(Span{0, len(added)}, secrets)
	return d.result()
}

// line finds what one line holds.
func (d *detector) line(class fileClass, at Span, stance Stance) {
	text := at.In(d.src)
	if len(text) > maxCandidate {
		text = text[:maxCandidate] // such lines are data, and nobody runs them
	}
	if remark.Get().MatchString(text) && class != docFile {
		stance = StanceMention
	}
	put := func(kind RiskKind, i, j int) {
		s := Span{at.Start + i, at.Start + j}
		d.found = append(d.found, Finding{Kind: kind, Quote: s.In(d.src), Span: s, Stance: stance})
	}
	statements := policy.DestructiveSQL
	if class != sqlFile {
		statements = func(text string) [][]int { return codeSQL.Get().FindAllStringIndex(text, -1) }
	}
	for _, m := range statements(text) {
		put(RiskDataLoss, m[0], m[1])
	}
	for _, r := range codeRules() {
		for _, m := range r.match.FindAllStringIndex(text, -1) {
			put(r.kind, m[0], m[1])
		}
	}
	if class != shellFile {
		return
	}
	lead := len(lineLead.Get().FindString(text))
	if command := strings.TrimSpace(text[lead:]); command != "" && !remark.Get().MatchString(command) {
		for _, f := range DetectCommand(strings.TrimSuffix(command, `\`)) {
			put(f.Kind, lead+f.Start, lead+f.End)
		}
	}
}

// detectCall finds what a call of a tool would do. Arguments of tools that pawl does not have are not known to mean
// anything.
func detectCall(c plan.ToolCallTemplate) []Placed {
	var args struct {
		Command string `json:"command"`
		Path    string `json:"path"`
		Content string `json:"content"`
		Patch   string `json:"patch"`
	}
	if json.Unmarshal(c.ArgsHint, &args) != nil {
		return nil // Check of package plan reports it
	}
	var out []Placed
	for _, f := range DetectCommand(args.Command) {
		out = append(out, Placed{"command", f})
	}
	switch {
	case args.Patch != "":
		out = append(out, detectPatch(args.Patch)...)
	case args.Path != "" && strings.HasPrefix(c.Name, "delete"):
		out = append(out, DetectChange(args.Path, policy.OpDelete, "")...)
	case args.Path != "" && args.Content != "":
		out = append(out, DetectChange(args.Path, policy.OpWrite, args.Content)...)
	}
	return out
}

var patchFile = pattern.New(`^(?:\+\+\+ (?:b/)?|\*\*\* (?:Add|Update|Delete) File: )([^\t\r\n]+)`)

// detectPatch finds what a patch adds, file by file. The ranges are those of the patch.
func detectPatch(patch string) []Placed {
	var out []Placed
	name := ""
	at := 0
	for line := range strings.Lines(patch) {
		start := at
		at += len(line)
		if m := patchFile.Get().FindStringSubmatch(line); m != nil {
			name = m[1]
			op := policy.OpWrite
			if strings.HasPrefix(line, "*** Delete") {
				op = policy.OpDelete
			}
			for _, f := range DetectChange(name, op, "") {
				out = append(out, Placed{"patch", f.move(start + strings.Index(line, name))})
			}
			continue
		}
		if added, ok := strings.CutPrefix(line, "+"); ok {
			for _, f := range detectContent(name, added) {
				f.Start, f.End = f.Start+start+1, f.End+start+1
				out = append(out, Placed{"patch", f})
			}
		}
	}
	return slices.Clip(out)
}

// move shifts a finding's range.
func (p Placed) move(by int) Finding {
	p.Start, p.End = p.Start+by, p.End+by
	return p.Finding
}

package review

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"pawl/kernel/effect"
	"pawl/text/pattern"
)

// code are the endings of files that hold code rather than data.
var code = map[string]bool{
	".go": true, ".js": true, ".mjs": true, ".cjs": true, ".jsx": true, ".ts": true, ".tsx": true, ".py": true,
	".rb": true, ".php": true, ".java": true, ".kt": true, ".scala": true,
	".c": true, ".cc": true, ".cpp": true, ".cs": true, ".rs": true, ".swift": true, ".dart": true, ".ex": true,
	".lua": true, ".vue": true, ".svelte": true,
}

// lineRule is a rule that looks at one line. Langs are the endings that it is for, none for all.
type lineRule struct {
	rule     string
	severity effect.Severity
	langs    []string
	form     *pattern.Pattern
	unless   *pattern.Pattern
}

var (
	script = []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".vue", ".svelte", ".html"}
	python = []string{".py"}
	shell  = []string{".sh", ".bash", "", ".yml", ".yaml"}
)

// secretRules find keys and passwords that stand in a file.
var secretRules = []lineRule{
	{"private-key", effect.Critical, nil, pattern.New(`-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----`), nil},
	{"secret", effect.Critical, nil, pattern.New(`\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,}|xox[abpsr]-[A-Za-z0-9-]{20,}|sk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}|AIza[0-9A-Za-z_-]{35}|glpat-[A-Za-z0-9_-]{20,})`), nil},
	{"password", effect.Warning, nil, pattern.New(`(?i)\b[\w.-]*(?:password|passwd|secret|api_?key|access_?token|auth_?token)["']?\s*(?::=|[:=])\s*["'][^"'\s]{8,}["']`),
		pattern.New(`(?i)example|placeholder|changeme|your[-_ ]|xxxx|\*\*\*\*|<[^>]+>|\$\{|\{\{|process\.env|os\.(?:environ|getenv)|test|dummy|fake`)},
}

// lineRules are the other rules that look at lines.
var lineRules = []lineRule{
	{"conflict-marker", effect.Critical, nil, pattern.New(`^(?:<<<<<<< |>>>>>>> )\S`), nil},
	{"eval", effect.Critical, script, pattern.New(`(?:^|[^.\w])(?:eval|new Function)\(\s*[^"'\s)]`), nil},
	{"eval", effect.Critical, python, pattern.New(`(?:^|[^.\w])(?:eval|exec)\(\s*[^"'\s)]`), nil},
	{"shell-command", effect.Critical, python,
		pattern.New(`os\.(?:system|popen)\(\s*(?:f["']|[^"'\s)]|["'][^"']*["']\s*[+%])|subprocess\.\w+\([^)]*shell\s*=\s*True`), nil},
	{"shell-command", effect.Critical, script,
		pattern.New("\\b(?:exec|execSync)\\(\\s*(?:`[^`]*\\$\\{|[\"'][^\"']*[\"']\\s*\\+)"), nil},
	{"shell-command", effect.Critical, []string{".php"}, pattern.New(`\b(?:system|exec|shell_exec|passthru)\([^)]*\$`),
		pattern.New(`escapeshell`)},
	{"shell-command", effect.Critical, []string{".rb"}, pattern.New("(?:`|system\\(\").*#\\{"), nil},
	{"sql", effect.Critical, []string{".py"},
		pattern.New(`(?i)\b(?:execute|executemany|raw)\(\s*(?:f["']\s*(?:select|insert|update|delete)\b.*\{|["']\s*(?:select|insert|update|delete)\b[^"']*["']\s*(?:%|\+|\.format))`), nil},
	{"sql", effect.Critical, append([]string{".java", ".kt", ".cs", ".php", ".rb"}, script...),
		pattern.New("(?i)(?:[\"'`])\\s*(?:select\\b.+\\bfrom|insert\\s+into|update\\b.+\\bset|delete\\s+from)\\b[^\"'`]*(?:[\"']\\s*[+.]\\s*\\$?\\w|\\$\\{)"), nil},
	{"html", effect.Warning, script, pattern.New(`\.(?:innerHTML|outerHTML)\s*\+?=\s*[^"'\s;]|dangerouslySetInnerHTML|document\.write\(\s*[^"'\s)]`), pattern.New(`DOMPurify|sanitize`)},
	{"deserialize", effect.Critical, python, pattern.New(`\b(?:pickle|cPickle|marshal)\.loads?\(|yaml\.load\(`),
		pattern.New(`SafeLoader|safe_load`)},
	{"tls", effect.Critical, nil, pattern.New(`verify\s*=\s*False|rejectUnauthorized\s*:\s*false|CURLOPT_SSL_VERIFYPEER\s*,\s*(?:false|0)|NODE_TLS_REJECT_UNAUTHORIZED\s*=\s*["']?0`), nil},
	{"weak-hash", effect.Warning, nil, pattern.New(`hashlib\.(?:md5|sha1)\(|createHash\(\s*["'](?:md5|sha1)["']|MessageDigest\.getInstance\(\s*"(?:MD5|SHA-?1)"`), nil},
	{"pipe-to-shell", effect.Warning, shell, pattern.New(`\b(?:curl|wget)\b[^|;]*\|\s*(?:sudo\s+)?(?:ba|z)?sh\b`), nil},
	{"wide-open", effect.Warning, nil, pattern.New(`\bchmod\s+(?:-R\s+)?0?777\b|os\.chmod\([^)]*0o777`), nil},
	{"swallowed", effect.Warning, python, pattern.New(`^\s*except\s*(?:Exception)?\s*:\s*(?:pass)?\s*$`), nil},
	{"swallowed", effect.Warning, append([]string{".java", ".cs", ".kt"}, script...),
		pattern.New(`catch\s*(?:\([^)]*\))?\s*\{\s*\}`), nil},
	{"todo", effect.Info, nil, pattern.New(`(?:^|\s)(?://|#|/\*|--|<!--)\s*(?:TODO|FIXME|XXX|HACK)\b`), nil},
}

// Limits beyond which code is hard to follow.
const (
	longFile   = 800
	deepIndent = 6
	longFunc   = 100
	complexity = 15
	tangled    = 30
	copied     = 15 // lines that stand in two places
)

func (f *file) match(rules []lineRule) {
	for n, line := range f.lines {
		if len(line) > 4000 {
			continue // no person wrote it
		}
		for _, r := range rules {
			if r.langs != nil && !slices.Contains(r.langs, f.lang) || !r.form.Get().MatchString(line) ||
				r.unless != nil && r.unless.Get().MatchString(line) {
				continue
			}
			f.add(r.severity, r.rule, n+1)
		}
	}
}

func (f *file) secrets() { f.match(secretRules) }

// text applies the rules for lines.
func (f *file) text() {
	f.secrets()
	f.match(lineRules)
	if !code[f.lang] {
		return
	}
	if len(f.lines) > longFile {
		f.add(effect.Info, "long-file", 1, strconv.Itoa(len(f.lines)), strconv.Itoa(longFile))
	}
	if f.lang == ".go" {
		return // its syntax says more
	}
	unit, deepest, at := f.unit(), 0, 0
	for n, line := range f.lines {
		trimmed := strings.TrimLeft(line, " \t")
		if trimmed == "" || unit == 0 {
			continue
		}
		width := 0
		for _, c := range line[:len(line)-len(trimmed)] {
			if c == '\t' {
				width += unit
			} else {
				width++
			}
		}
		opens := strings.HasSuffix(strings.TrimRight(trimmed, " \r"), "{") ||
			strings.HasSuffix(strings.TrimRight(trimmed, " \r"), ":")
		if depth := width / unit; opens && depth > deepest {
			deepest, at = depth, n+1
		}
	}
	if deepest >= deepIndent {
		f.add(effect.Warning, "nesting", at, strconv.Itoa(deepest))
	}
}

// unit is by how many blanks the file is indented, 0 where it is not.
func (f *file) unit() int {
	count := map[int]int{}
	for _, l := range f.lines {
		if strings.HasPrefix(l, "\t") {
			count[4]++
			continue
		}
		if n := len(l) - len(strings.TrimLeft(l, " ")); n == 2 || n == 4 {
			count[n]++
		}
	}
	switch {
	case count[2] > 0 && count[2]*3 >= count[4]:
		return 2
	case count[4] > 0:
		return 4
	}
	return 0
}

// twice finds runs of lines that stand in two places.
type twice struct {
	seen  map[uint64]place
	found []effect.Remark
	last  map[string]int // line up to which a file's copies were told
}

type place struct {
	file string
	line int
}

func newTwice() *twice { return &twice{seen: map[uint64]place{}, last: map[string]int{}} }

// add compares a file with all before it. Blank lines, comments and lines of one sign do not count.
func (t *twice) add(rel string, lines []string) {
	type kept struct {
		text string
		line int
	}
	var list []kept
	for n, l := range lines {
		l = strings.TrimSpace(l)
		if len(l) < 4 || strings.HasPrefix(l, "//") || strings.HasPrefix(l, "#") || strings.HasPrefix(l, "*") ||
			strings.HasPrefix(l, "import ") || strings.HasPrefix(l, "\"") {
			continue
		}
		list = append(list, kept{l, n + 1})
	}
	for i := 0; i+copied <= len(list); i++ {
		h := fnv.New64a()
		for _, k := range list[i : i+copied] {
			h.Write([]byte(k.text + "\n"))
		}
		sum := h.Sum64()
		was, ok := t.seen[sum]
		if !ok {
			t.seen[sum] = place{rel, list[i].line}
			continue
		}
		if list[i].line <= t.last[rel] || was.file == rel && list[i].line-was.line < copied {
			continue
		}
		t.last[rel] = list[i+copied-1].line
		t.found = append(t.found, effect.Remark{
			Severity: effect.Warning, Rule: "copy", File: rel, Line: list[i].line, Key: "orders.review_copy",
			Args: []string{strconv.Itoa(copied), was.file + ":" + strconv.Itoa(was.line)},
		})
	}
}

func (t *twice) remarks() []effect.Remark { return t.found }

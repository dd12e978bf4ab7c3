package criteria

import (
	"path"
	"slices"
	"strings"
	"sync"

	"pawl/text/pattern"
)

// nameKind says what a name in a requirement names.
type nameKind uint8

const (
	namePath   nameKind = iota + 1 // a file or folder of the project
	nameQuoted                     // what stands in quotes or in backticks
	nameCode                       // an identifier, a flag, an address of an interface
	nameNumber                     // a number with a unit, or the status of an answer
)

// name is something in a requirement that a test, a file or a diff can speak of.
type name struct {
	text       string
	kind       nameKind
	start, end int // in the clause
}

var (
	quotedForm = pattern.New("`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|‘([^’\n]+)’|「([^」\n]+)」|『([^』\n]+)』|(?:^|[\\s(（：:,，])'([^'\n]+)'")

	// pathForm is a word with a slash or with the suffix of a file, or the name of a file that has none.
	pathForm = pattern.New(`(?:[.\w@-]*[\w@-]/)*[.]?[\w@-][\w@.+-]*\.(?:` + suffixes + `)\b|(?:[\w@.-]+/)+[\w@.-]*|\b(?:README|CHANGELOG|CONTRIBUTING|LICENSE|NOTICE|CODEOWNERS|Makefile|Dockerfile|Jenkinsfile|Gemfile|Procfile|Vagrantfile|Justfile)\b|\.(?:gitignore|gitattributes|dockerignore|editorconfig|npmrc|nvmrc|env|eslintrc|prettierrc|golangci)(?:\.\w+)*\b`)
	suffixes = `go|mod|sum|work|py|pyi|js|mjs|cjs|jsx|ts|tsx|json5?|jsonc|ya?ml|toml|ini|cfg|conf|env|properties|` +
		`xml|gradle|kts?|md|mdx|rst|adoc|txt|sh|bash|zsh|ps1|bat|rb|rs|java|scala|swift|dart|c|h|cc|cpp|hpp|cs|` +
		`php|ex|exs|erl|hs|lua|pl|r|sql|proto|graphql|html?|css|scss|less|vue|svelte|tf|lock|csv|tmpl|tpl|po|svg|` +
		`service|example|snap|golden`

	codeForm = pattern.New(`--[a-zA-Z][\w-]*` + // flags
		`|\b[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+` + // a.b
		`|\b[A-Za-z_]\w*\(\)` + // f()
		`|\b[A-Za-z]\w*_\w+|\b_\w+` + // a_b
		`|\b[a-z]+[0-9]*(?:[A-Z][a-z0-9]*)+\b|\b[A-Z][A-Z0-9]*[a-z][a-z0-9]*(?:[A-Z][A-Za-z0-9]*)+\b` + // aB, AaBb
		`|/[a-zA-Z][\w-]*(?:/(?:[\w-]+|\{\w+\}|:\w+))*`) // the address of an interface

	// beside are words beside which a plain word is a name: "a Sub function", "the function Sub", "sort 参数".
	beforeNoun = pattern.New(`\b([A-Za-z][\w-]*)\s+(?:functions?|funcs?|methods?|class(?:es)?|structs?|types?|` +
		`interfaces?|constants?|variables?|enums?|modules?|packages?|commands?|subcommands?|flags?|options?|` +
		`parameters?|params?|args?|arguments?|fields?|columns?|headers?|endpoints?|keys?|env vars?|hooks?|` +
		`decorators?|macros?|traits?|components?|targets?|dependenc(?:y|ies)|librar(?:y|ies))\b`)
	afterNoun = pattern.New(`\b(?:function|func|method|class|struct|type|interface|constant|variable|module|` +
		`package|command|subcommand|flag|option|parameter|param|argument|field|column|header|endpoint|key|hook|` +
		`component|target|dependency|library)\s+(?:called |named )?([A-Za-z][\w-]*)`)
	insteadFor = pattern.New(`\b(?:use|adopt)\s+([A-Za-z][\w./-]*)\s+instead|改用\s*([A-Za-z][\w./-]*)`)
	calledForm = pattern.New(`\b(?:called|named)\s+([A-Za-z][\w-]*)`)
	besideHan  = pattern.New(`([A-Za-z][\w-]*)\s*(?:函数|方法|类|结构体|类型|接口|常量|变量|枚举|模块|包|命令|子命令|参数|选项|字段|列|请求头|响应头|头|` +
		`键|环境变量|组件|目标|依赖|库|端点|标志)`)
	afterHan   = pattern.New(`(?:函数|方法|结构体|类型|常量|变量|模块|命令|子命令|参数|选项|字段|组件|目标|依赖|库|叫做?|名为|名叫)\s*([A-Za-z][\w-]*)`)
	statusForm = pattern.New(`(?i)(?:\b(?:return|respond|answer|give|send|status|code|http|error|` +
		`an?)\w*\b[^.;\n]{0,16}?|返回|状态码|响应|报|改成|改为)\s*([1-5][0-9]{2})(?:\D|$)`)
)

// plainWords are words that name nothing although they stand beside such a noun.
var plainWords = words(`a an the this that these those its our your my his their new old other another any each every
	all some no same single second first last one two three optional required public private internal external static
	global local helper utility main base default empty simple small large long short custom generic abstract async
	missing existing unused deprecated obsolete legacy duplicate duplicated wrong invalid valid bad query path request
	response http https rest api web cli go python java rust typescript javascript node json yaml xml sql test tests
	unit and or of for to in on with by from as is are be it which following given several many more most boolean string
	integer number date time array list map data input output return error that which whose where when if not without
	hints hint annotations annotation names name values value third-party open-source external new-style needed relevant important hidden extra additional common shared possible
	command-line environment build make should must will can returns takes accepts has have does was were exists cannot into`)

// brands are written like identifiers and name none.
var brands = words(`github gitlab javascript typescript oauth oauth2 openid opentelemetry postgresql mysql sqlite mongodb
	macos ios ipados youtube linkedin graphql websocket websockets webassembly wechat alipay openai chatgpt nodejs
	rabbitmq elasticsearch clickhouse dynamodb cloudflare powershell intellij vscode phpunit pytest grpc paypal
	bitbucket circleci hashicorp kubernetes devops nosql iphone ipad ebay whatsapp html5 css3 mariadb tidb redis`)

// words is a set that is made when it is first asked for.
func words(s string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		for w := range strings.FieldsSeq(s) {
			out[w] = true
		}
		return out
	})
}

// libraries end like a file and are none.
var libraries = words(`node.js vue.js react.js next.js nuxt.js express.js three.js d3.js nest.js discord.js chart.js
	asp.net socket.io e.g i.e`)

// roots are folders below which words with a slash are a path although nothing else says so.
var roots = words(`src internal cmd pkg lib app apps test tests docs doc scripts config configs api web server client
	.github vendor packages services tools examples migrations deploy build assets static public templates frontend
	backend legacy core common utils helpers models views controllers testdata fixtures e2e spec bin etc infra charts`)

// names finds the names in a clause, in their order, each once.
func names(s string) []name {
	f := finder{text: s, taken: make([]bool, len(s)+1)}
	f.quoted()
	f.paths()
	f.code()
	for _, form := range []*pattern.Pattern{insteadFor, afterNoun, calledForm, beforeNoun, besideHan, afterHan} {
		f.beside(form)
	}
	for _, m := range statusForm.Get().FindAllStringSubmatchIndex(s, -1) {
		f.add(nameNumber, m[2], m[3])
	}
	slices.SortStableFunc(f.out, func(a, b name) int { return a.start - b.start })
	return f.out
}

// finder collects the names in a text. What is part of one name is part of no other.
type finder struct {
	text  string
	out   []name
	taken []bool
}

func (f *finder) add(kind nameKind, start, end int) {
	if start < 0 || start >= end || slices.Contains(f.taken[start:end], true) {
		return
	}
	for i := start; i < end; i++ {
		f.taken[i] = true
	}
	text := strings.TrimSpace(f.text[start:end])
	if !slices.ContainsFunc(f.out, func(n name) bool { return n.text == text }) {
		f.out = append(f.out, name{text, kind, start, end})
	}
}

func (f *finder) quoted() {
	for _, m := range quotedForm.Get().FindAllStringSubmatchIndex(f.text, -1) {
		for g := 2; g < len(m); g += 2 {
			if m[g] < 0 {
				continue
			}
			kind := nameQuoted
			if text := f.text[m[g]:m[g+1]]; isPath(text) && pathForm.Get().FindString(text) == text {
				kind = namePath
			}
			f.add(kind, m[g], m[g+1])
		}
	}
}

func (f *finder) paths() {
	for _, m := range pathForm.Get().FindAllStringIndex(f.text, -1) {
		end := m[0] + len(strings.TrimRight(f.text[m[0]:m[1]], "."))
		if m[0] > 0 && strings.ContainsAny(f.text[m[0]-1:m[0]], "/:~") {
			continue // absolute, or the rest of an address
		}
		if isPath(f.text[m[0]:end]) || inFolder(f.text, m[0], end) {
			f.add(namePath, m[0], end)
		}
	}
}

func (f *finder) code() {
	for _, m := range codeForm.Get().FindAllStringIndex(f.text, -1) {
		text := f.text[m[0]:m[1]]
		low := strings.ToLower(text)
		if !brands()[low] && !libraries()[low] && (!strings.HasPrefix(text, "/") || address(f.text, m[0])) {
			f.add(nameCode, m[0], m[1])
		}
	}
}

// beside finds plain words that are names because of the noun beside them.
func (f *finder) beside(form *pattern.Pattern) {
	for _, m := range form.Get().FindAllStringSubmatchIndex(f.text, -1) {
		if m[2] < 0 {
			m = m[2:] // the other of two ways to say it
		}
		word := f.text[m[2]:m[3]]
		low := strings.ToLower(word)
		if plainWords()[low] || brands()[low] || enVerb.Get().FindString(low) == low ||
			form == beforeNoun && !introduced(f.text[:m[2]], word) {
			continue
		}
		f.add(nameCode, m[2], m[3])
	}
}

var article = pattern.New(`(?i)\b(?:an?|the|new|this|that)\s+$`)

// introduced reports whether a plain word before a noun is a name: one that an article stands before, or that begins
// with a capital although no sentence does.
func introduced(before, word string) bool {
	return article.Get().MatchString(before) || word != strings.ToLower(word) && strings.TrimSpace(before) != ""
}

// address reports whether a slash at a place begins the address of an interface, and no part of a fraction or a path.
func address(s string, at int) bool {
	return at == 0 || strings.ContainsAny(s[at-1:at], " \t(,:\"'`") || s[at-1] >= 0x80
}

// isPath reports whether a word is a path by its own looks.
func isPath(text string) bool {
	low := strings.ToLower(text)
	if libraries()[low] || brands()[low] || strings.Contains(text, "..") || strings.HasPrefix(text, "/") ||
		strings.ContainsAny(text, " \\:*?<>|") || len(text) > 200 {
		return false
	}
	if p := strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/"); p == "" || path.Clean(p) != p {
		return false
	}
	if first, rest, ok := strings.Cut(text, "/"); ok {
		return rest == "" || roots()[first] || path.Ext(strings.TrimSuffix(rest, "/")) != "" || strings.Count(text, "/") > 1
	}
	return pathForm.Get().FindString(text) == text
}

var folderWord = pattern.New(`(?i)(?:\b(?:in|into|from|under|below|inside|folder|directory|dir|package|` +
	`module)\s+(?:the\s+)?|目录|文件夹|在|从|包)\s*[\x60"'“]?$`)
var wordFolder = pattern.New(`(?i)^[\x60"'”]?\s*(?:folder|directory|dir|package|module|目录|文件夹|包|下|里|中)`)

// inFolder reports whether the words around say that a word with a slash is a folder.
func inFolder(s string, start, end int) bool {
	text := s[start:end]
	return strings.Contains(text, "/") && !strings.Contains(text, "..") && !strings.HasPrefix(text, "/") &&
		path.Clean(text) == strings.TrimSuffix(text, "/") &&
		(folderWord.Get().MatchString(s[:start]) || wordFolder.Get().MatchString(s[end:]))
}

// usual are the names that files have of which people leave the suffix out.
var usual = map[string]string{"README": "README.md", "CHANGELOG": "CHANGELOG.md", "CONTRIBUTING": "CONTRIBUTING.md"}

// pathsOf returns the paths among names as they stand below the root of a project.
func pathsOf(list []name) []string {
	var out []string
	for _, n := range list {
		if n.kind != namePath {
			continue
		}
		p := strings.TrimPrefix(n.text, "./")
		if whole, ok := usual[p]; ok {
			p = whole
		}
		if p != "" && !slices.Contains(out, p) && len(out) < maxTexts {
			out = append(out, p)
		}
	}
	return out
}

var callForm = pattern.New(`^([\w.]+)\(.*\)[\w\s,()*.\[\]]*$`)

// textsOf returns the other names, without those that stand where old values do.
func textsOf(list []name, except ...string) []string {
	var out []string
	for _, n := range list {
		text := n.text
		if call := callForm.Get().FindStringSubmatch(text); call != nil {
			text = call[1] // of a signature a test has the name
		}
		if n.kind == namePath || len([]rune(text)) > 60 || slices.Contains(except, n.text) ||
			slices.Contains(out, text) || len(out) == maxTexts {
			continue
		}
		if text = clip(text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

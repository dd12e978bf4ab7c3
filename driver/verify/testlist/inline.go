package testlist

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	rustShadow = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bmacro_rules!\s*(?:debug_)?(?:assert\w*|panic|unreachable|matches)\b|\bcfg!\s*\([^)]*\btest\b|` +
			`#!\[\s*(?:cfg|cfg_attr|feature|test_runner|reexport_test_harness_main)\b|\bextern\s+crate\s+\w+\s+as\s+(?:core|std|test)\b|` +
			`\blink_section\b`)
	})
	rustTest = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bcfg\s*\([^\]]*\btest\b|\b(?:test|bench|rstest|proptest|test_case)\b\s*(?:\(|\])`)
	})
	rustPlain = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^#\[\s*(?:cfg\s*\(\s*test\s*\)|test|(?:tokio|async_std|actix_rt|actix_web)::test|should_panic(?:\([^\]]*\))?|ignore(?:\s*=[^\]]*)?|` +
			`allow\([^\]]*\)|rstest|case(?:::\w+)?\([^\]]*\)|test_case\([^\]]*\)|doc\b[^\]]*)\s*\]$`)
	})
	rustHead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:pub(?:\s*\([^)]*\))?\s+)?(?:async\s+|const\s+|unsafe\s+)*(use|fn|mod)\b\s*(\w*)`)
	})
)

// Shadows reports whether a file in Rust takes the place of what tests are made of, or does something else while it is
// tested or before anything else runs.
func Shadows(text []byte) bool { return rustShadow().Match(rustCode(text)) }

// AddsInline reports whether the tests that stand in a file of a program in Rust are all there as they were, whatever
// became of the rest of it, and nothing but tests was added to them. What it cannot tell is no addition.
func AddsInline(before, after []byte) bool {
	if len(rustShadow().FindAll(rustCode(after), -1)) > len(rustShadow().FindAll(rustCode(before), -1)) {
		return false
	}
	had, ok := rustTests(string(before))
	has, parsed := rustTests(string(after))
	if !ok || !parsed {
		return string(before) == string(after)
	}
	for key := range had {
		if _, ok := has[key]; !ok {
			return false
		}
	}
	for key, item := range has {
		if _, ok := had[key]; !ok && !item.mayBeNew(string(before)) {
			return false
		}
	}
	return true
}

// WithTests is a file of a program in Rust as it was, with the modules of tests that stand in it now, and with the
// modules that it declares now, so that their tests are compiled.
func WithTests(before, after []byte) []byte {
	had, ok := rustItems(string(before))
	has, parsed := rustItems(string(after))
	if !ok || !parsed {
		return before
	}
	isTest := func(i rustItem) bool {
		head := rustHead().FindStringSubmatch(i.code)
		return head != nil && head[1] == "mod" && slices.ContainsFunc(i.attributes, rustTest().MatchString)
	}
	var out strings.Builder
	var declared []string
	at := 0
	for _, i := range had {
		if isTest(i) {
			out.Write(before[at:i.from])
			at = i.to
		}
		declared = append(declared, strings.Join(strings.Fields(i.code), " "))
	}
	out.Write(before[at:])
	for _, i := range has {
		head := rustHead().FindStringSubmatch(i.code)
		declares := head != nil && head[1] == "mod" && !strings.Contains(i.code, "{")
		if isTest(i) || declares && !slices.Contains(declared, strings.Join(strings.Fields(i.code), " ")) {
			out.WriteString("\n" + string(after[i.from:i.to]) + "\n")
		}
	}
	return []byte(out.String())
}

// rustItem is a function, module or anything else that stands in a file or a module, with its attributes.
type rustItem struct {
	attributes []string
	text, code string // as it is, and without what comments and texts say
	around     string // the module that it stands in
	from, to   int    // where it stands, with its attributes
}

// mayBeNew reports whether a test, or what stands beside tests, takes nothing away from those that were there.
func (r rustItem) mayBeNew(before string) bool {
	for _, a := range r.attributes {
		if !rustPlain().MatchString(a) {
			return false
		}
	}
	head := rustHead().FindStringSubmatch(r.code)
	switch {
	case head == nil:
		return false
	case head[1] == "use":
		return !regexp.MustCompile(`assert|panic|\bas\b`).MatchString(r.code)
	case r.around == "" && head[1] == "fn" && !slices.ContainsFunc(r.attributes, func(a string) bool {
		return regexp.MustCompile(`^#\[\s*(?:\w+::)?(?:test|rstest)\b`).MatchString(a)
	}):
		return false // which may stand for one of the program while that is tested
	}
	return !regexp.MustCompile(`\b` + regexp.QuoteMeta(head[2]) + `\b`).MatchString(before)
}

// rustTests are the tests of a file and what stands beside them, by all that they say.
func rustTests(text string) (map[string]rustItem, bool) {
	out := map[string]rustItem{}
	ok := collectRust(text, "", false, out)
	return out, ok
}

// collectRust takes what stands in a file or a module: all of it where it is for tests, else what is marked so.
func collectRust(text, around string, forTests bool, out map[string]rustItem) bool {
	items, ok := rustItems(text)
	for _, item := range items {
		item.around = around
		marked := slices.ContainsFunc(item.attributes, func(a string) bool { return rustTest().MatchString(a) })
		head := rustHead().FindStringSubmatch(item.code)
		open := strings.IndexByte(item.code, '{')
		if head != nil && head[1] == "mod" && open >= 0 {
			name := around + strings.Join(item.attributes, "") + "mod " + head[2] + " "
			if marked || forTests {
				// That it is there, and for what, is a part of it.
				if was := out[name]; was.text == "" {
					out[name] = rustItem{attributes: item.attributes, text: name, code: "mod " + head[2], around: around}
				}
			}
			inner := ""
			if marked || forTests {
				inner = name
			}
			if !collectRust(item.text[open+1:len(item.text)-1], inner, marked || forTests, out) {
				return false
			}
			continue
		}
		if marked || forTests {
			key := around + strings.Join(strings.Fields(strings.Join(item.attributes, " ")+" "+item.text), " ")
			for out[key].text != "" {
				key += "\x00" // two that say the same are not one
			}
			out[key] = item
		}
	}
	return ok
}

// rustItems parts what stands in a file or a module. It is false where brackets do not match.
func rustItems(text string) (out []rustItem, ok bool) {
	code := string(rustCode([]byte(text)))
	for at := 0; ; {
		for at < len(code) && strings.IndexByte(" \t\r\n;", code[at]) >= 0 {
			at++
		}
		if at >= len(code) {
			return out, true
		}
		item := rustItem{from: at}
		for at < len(code) && code[at] == '#' {
			from := at
			if at = rustClose(code, at); at < 0 {
				return out, false
			}
			if !strings.HasPrefix(code[from:], "#!") {
				item.attributes = append(item.attributes, text[from:at])
			}
			for at < len(code) && strings.IndexByte(" \t\r\n", code[at]) >= 0 {
				at++
			}
		}
		if at >= len(code) {
			return out, true
		}
		end := rustEnd(code, at)
		if end < 0 {
			return out, false
		}
		item.text, item.code, item.to = text[at:end], code[at:end], end
		out, at = append(out, item), end
	}
}

// rustClose is where the brackets close that open next, -1 for nowhere.
func rustClose(code string, at int) int {
	depth := 0
	for ; at < len(code); at++ {
		switch code[at] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return at + 1
			}
			if depth < 0 {
				return -1
			}
		}
	}
	return -1
}

// rustEnd is where an item ends: behind a semicolon or behind its body.
func rustEnd(code string, at int) int {
	statement := regexp.MustCompile(`^(?:pub(?:\s*\([^)]*\))?\s+)?(?:use|static|type|extern\s+crate|const\s+[A-Z_])`).MatchString(code[at:])
	for at < len(code) {
		switch code[at] {
		case ';':
			return at + 1
		case '(', '[', '{':
			body := code[at] == '{'
			if at = rustClose(code, at); at < 0 || body && !statement {
				return at
			}
			continue
		case ')', ']', '}':
			return -1
		}
		at++
	}
	return at
}

// rustCode is a text in Rust with blanks in the place of what comments and texts say, at the same places.
func rustCode(text []byte) []byte {
	out := slices.Clone(text)
	blank := func(from, to int) {
		for i := from; i < to && i < len(out); i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	for i := 0; i < len(text); {
		if n := rustSkip(text[i:], i > 0 && isWord(text[i-1])); n > 0 {
			blank(i, i+n)
			i += n
			continue
		}
		i++
	}
	return out
}

// isWord reports whether a byte is a part of a name.
func isWord(c byte) bool { return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }

var (
	rustRaw  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^b?r(#*)"`) })
	rustChar = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^'(?:[^'\\\n]|\\(?:[^u]|u\{[0-9a-fA-F]*\}|x[0-9a-fA-F]{2}))'`)
	})
)

// rustComment is the length of the comment that begins here, which may hold others.
func rustComment(text []byte) int {
	depth, i := 0, 0
	for i < len(text) {
		switch {
		case bytes.HasPrefix(text[i:], []byte("/*")):
			depth, i = depth+1, i+2
		case bytes.HasPrefix(text[i:], []byte("*/")):
			if depth, i = depth-1, i+2; depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return i
}

// rustSkip is the length of the comment or text that begins here, 0 for none.
func rustSkip(text []byte, within bool) int {
	switch {
	case text[0] == '/' && len(text) > 1 && text[1] == '/':
		return lineEnd(text)
	case text[0] == '/' && len(text) > 1 && text[1] == '*':
		return rustComment(text)
	case text[0] == '"':
		return 1 + through(text[1:], `"`)
	case text[0] == '\'':
		return len(rustChar().Find(text))
	case !within && (text[0] == 'r' || text[0] == 'b'):
		if m := rustRaw().FindSubmatch(text); m != nil {
			end := append([]byte{'"'}, m[1]...)
			if i := strings.Index(string(text[len(m[0]):]), string(end)); i >= 0 {
				return len(m[0]) + i + len(end)
			}
			return len(text)
		}
	}
	return 0
}

package message

import (
	"bytes"
	"embed"
	"io/fs"
	"strings"
	"sync"
)

// catalogue holds a folder for each language and in it a file for each area. The files stay as they are: every start of
// a program would pay for a map of them, the launcher of each command behind walls included.
//
//go:embed catalogue
var catalogue embed.FS

const (
	folder    = "catalogue/"
	extension = ".properties"
	// is parts a key from its text. Whatever stands behind it is the text, blanks at either end included.
	is = " = "
	// hintSuffix ends the key of the next step of a message. No message has a key that ends so.
	hintSuffix = ".hint"
	// rules is the area of what tables say, which stands in Chinese alone.
	rules = "rules"
	// comment begins a line that is no text.
	comment = '#'
)

// shelf holds the files of one language by area, each from when it is first asked for.
type shelf struct {
	lang  Lang
	files sync.Map
}

// The linker lays the shelves out; nothing is done for them when a program starts.
var english, chinese = shelf{lang: English}, shelf{lang: Chinese}

// shelf returns the files of the language.
func (l Lang) shelf() *shelf {
	if l == Chinese {
		return &chinese
	}
	return &english
}

// read returns the lines of an area, or nil where there is no such area.
func (s *shelf) read(area string) []byte {
	if lines, ok := s.files.Load(area); ok {
		return lines.([]byte)
	}
	lines, err := catalogue.ReadFile(folder + string(s.lang) + "/" + area + extension)
	if err != nil {
		return nil
	}
	s.files.Store(area, lines)
	return lines
}

// areas returns the names of the shelf's files.
func (s *shelf) areas() []string {
	files, _ := fs.ReadDir(catalogue, folder+string(s.lang)) // the folder is part of the program
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = strings.TrimSuffix(f.Name(), extension)
	}
	return out
}

// find returns the text of a key, which may be that of a next step, and whether there is one.
func (s *shelf) find(key string) (string, bool) {
	area, _, _ := strings.Cut(key, ".")
	return find(s.read(area), key)
}

// find returns the text of a key in the lines of a file, and whether there is one. The lines are sorted by their keys,
// so that each look leaves half of them. A blank sorts before all that a key is made of, so that lines stand in the
// order of their keys.
func find(lines []byte, key string) (string, bool) {
	if strings.Contains(key, " ") {
		return "", false
	}
	want := key + is
	// The line begins at or behind from, and before to.
	for from, to := 0, len(lines); from < to; {
		begin := from
		middle := from + (to-from)/2
		if n := bytes.IndexByte(lines[middle:to-1], '\n'); n >= 0 {
			begin = middle + n + 1
		} else {
			to = middle + 1
		}
		line, end := firstLine(lines, begin, to)
		start := line[:min(len(line), len(want))]
		switch {
		case line == nil || string(start) > want:
			to = begin
		case string(start) < want:
			from = end
		default:
			return unescape(line[len(want):]), true
		}
	}
	return "", false
}

// firstLine returns the first line that begins between two places and is neither empty nor a comment, and where the
// next one begins.
func firstLine(lines []byte, from, to int) (line []byte, next int) {
	for from < to {
		end := len(lines)
		next = end
		if n := bytes.IndexByte(lines[from:], '\n'); n >= 0 {
			end, next = from+n, from+n+1
		}
		if end > from && lines[from] != comment {
			return lines[from:end], next
		}
		from = next
	}
	return nil, to
}

// unescape puts line ends, tabs and backslashes where the file has an escape for them.
func unescape(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text)
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
			switch text[i] {
			case 'n':
				b.WriteByte('\n')
				continue
			case 't':
				b.WriteByte('\t')
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// names returns the keys of a file in their order, those of next steps included.
func names(lines []byte) []string {
	var out []string
	for from := 0; from < len(lines); {
		line, next := firstLine(lines, from, len(lines))
		if name, _, ok := bytes.Cut(line, []byte(is)); ok {
			out = append(out, string(name))
		}
		from = next
	}
	return out
}

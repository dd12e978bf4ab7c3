package contextpack

import (
	"bytes"
	"strings"
)

// language is what a file is written in. Languages are kept in the cache: append only.
type language uint8

const (
	otherText language = iota
	golang
	python
	javascript
	typescript
	java
	kotlin
	rust
	clang
	cpp
	csharp
	ruby
	php
	swift
	scala
	shell
	markdown
	yaml
	jsonText
	toml
	html
	css
	sql
	proto
	makefile
	lua
	dart
	elixir
	haskell
	xml
)

// style says how comments and strings of a language begin.
type style struct {
	name  string
	line  string // begins a comment to the end of the line
	line2 string
	block bool // has /* */
	quote string
	// code says that the language has declarations; tags that ctags is asked for them.
	code, tags bool
}

// styles are the languages, by their number.
var styles = [...]style{
	otherText:  {name: "text"},
	golang:     {name: "Go", line: "//", block: true, quote: "\"'`", code: true},
	python:     {name: "Python", line: "#", quote: "\"'", code: true, tags: true},
	javascript: {name: "JavaScript", line: "//", block: true, quote: "\"'`", code: true, tags: true},
	typescript: {name: "TypeScript", line: "//", block: true, quote: "\"'`", code: true, tags: true},
	java:       {name: "Java", line: "//", block: true, quote: "\"'", code: true, tags: true},
	kotlin:     {name: "Kotlin", line: "//", block: true, quote: "\"'", code: true, tags: true},
	rust:       {name: "Rust", line: "//", block: true, quote: "\"", code: true, tags: true},
	clang:      {name: "C", line: "//", block: true, quote: "\"'", code: true, tags: true},
	cpp:        {name: "C++", line: "//", block: true, quote: "\"'", code: true, tags: true},
	csharp:     {name: "C#", line: "//", block: true, quote: "\"'", code: true, tags: true},
	ruby:       {name: "Ruby", line: "#", quote: "\"'", code: true, tags: true},
	php:        {name: "PHP", line: "//", line2: "#", block: true, quote: "\"'", code: true, tags: true},
	swift:      {name: "Swift", line: "//", block: true, quote: "\"", code: true},
	scala:      {name: "Scala", line: "//", block: true, quote: "\"", code: true},
	shell:      {name: "shell", line: "#", code: true, tags: true},
	markdown:   {name: "Markdown"},
	yaml:       {name: "YAML", line: "#"},
	jsonText:   {name: "JSON"},
	toml:       {name: "TOML", line: "#"},
	html:       {name: "HTML"},
	css:        {name: "CSS", block: true},
	sql:        {name: "SQL", line: "--", block: true, quote: "'"},
	proto:      {name: "Protocol Buffers", line: "//", block: true, quote: "\"", code: true},
	makefile:   {name: "make", line: "#"},
	lua:        {name: "Lua", line: "--", quote: "\"'", code: true, tags: true},
	dart:       {name: "Dart", line: "//", block: true, quote: "\"'", code: true},
	elixir:     {name: "Elixir", line: "#", quote: "\"", code: true, tags: true},
	haskell:    {name: "Haskell", line: "--", quote: "\"", code: true},
	xml:        {name: "XML"},
}

// byExtension maps the extension of a file to its language.
var byExtension = map[string]language{
	"go": golang, "py": python, "pyi": python, "js": javascript, "jsx": javascript, "mjs": javascript,
	"cjs": javascript,
	"ts":  typescript, "tsx": typescript, "mts": typescript, "java": java, "kt": kotlin, "kts": kotlin, "rs": rust,
	"c": clang, "h": clang, "cc": cpp, "cpp": cpp, "cxx": cpp, "hh": cpp, "hpp": cpp, "cs": csharp, "rb": ruby,
	"php":   php,
	"swift": swift, "scala": scala, "sh": shell, "bash": shell, "md": markdown, "markdown": markdown, "yml": yaml,
	"yaml": yaml, "json": jsonText, "toml": toml, "html": html, "htm": html, "css": css, "scss": css, "sql": sql,
	"proto": proto,
	"mk":    makefile, "lua": lua, "dart": dart, "ex": elixir, "exs": elixir, "hs": haskell, "xml": xml,
}

// entryNames are files at which programs begin, whatever is in them.
var entryNames = map[string]bool{
	"main.py": true, "__main__.py": true, "manage.py": true, "main.rs": true, "main.c": true, "main.cpp": true,
	"Main.java": true,
	"main.ts":   true, "main.js": true, "server.js": true, "server.ts": true, "Program.cs": true, "main.dart": true,
	"main.swift": true,
}

func languageOf(path string, data []byte) language {
	base := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(base, '.'); i >= 0 {
		if l, ok := byExtension[strings.ToLower(base[i+1:])]; ok {
			return l
		}
	}
	switch {
	case base == "Makefile" || base == "GNUmakefile":
		return makefile
	case bytes.HasPrefix(data, []byte("#!")):
		first, _, _ := bytes.Cut(data[:min(len(data), 128)], []byte{'\n'})
		switch {
		case bytes.Contains(first, []byte("python")):
			return python
		case bytes.Contains(first, []byte("node")):
			return javascript
		case bytes.Contains(first, []byte("ruby")):
			return ruby
		case bytes.HasSuffix(first, []byte("sh")):
			return shell
		}
	}
	return otherText
}

// aboutText is the line in which a file says what it is: the first heading of a text, and the first comment of a
// source.
func aboutText(l language, data []byte) string {
	st := styles[l]
	if l != markdown && !st.code {
		return ""
	}
	for n, rest := 0, data[:min(len(data), 4096)]; n < 20 && len(rest) > 0; n++ {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0, bytes.HasPrefix(line, []byte("#!")), bytes.HasPrefix(line,
			[]byte("<")), bytes.HasPrefix(line, []byte("[")):
			continue
		case l == markdown:
			return clip(string(bytes.TrimLeft(line, "# ")), 160)
		case st.line != "" && bytes.HasPrefix(line, []byte(st.line)), st.block &&
			bytes.HasPrefix(line, []byte("/*")), bytes.HasPrefix(line, []byte(`"""`)):
			about := string(bytes.Trim(line, `/*#-!" `))
			if about == "" || strings.Contains(strings.ToLower(about), "copyright") ||
				strings.Contains(strings.ToLower(about), "licen") {
				continue
			}
			return clip(about, 160)
		default:
			return ""
		}
	}
	return ""
}

package main

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"pawl/internal/worker"
)

//go:embed testdata
var data embed.FS

// Case is one worker with one requirement: a file of testdata, whose lines before its files say KEY: VALUE.
type Case struct {
	Name     string // LANGUAGE/liar-NAME or LANGUAGE/honest-NAME
	Language string
	Liar     bool
	worker.Job
	// Named is a word by which a liar has to be named (names), or several with "or" between them; "" for any.
	Named string
	// Needs is a module of Python that has to be there.
	Needs string
	// Open says why a case that fails is known to, until it does not.
	Open string
}

// cases reads all cases, in order.
func cases() ([]Case, error) {
	raw, err := data.ReadFile("testdata/bases.txtar")
	if err != nil {
		return nil, err
	}
	bases := map[string]map[string]string{}
	for _, f := range txtar.Parse(raw).Files {
		language, name, _ := strings.Cut(f.Name, "/")
		if bases[language] == nil {
			bases[language] = map[string]string{}
		}
		bases[language][name] = string(f.Data)
	}
	names, err := fs.Glob(data, "testdata/*/*.txtar")
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, name := range names {
		raw, err := data.ReadFile(name)
		if err != nil {
			return nil, err
		}
		language := path.Base(path.Dir(name))
		c, err := parse(language, strings.TrimSuffix(path.Base(name), ".txtar"), bases[language], raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// parse reads one case. Its own base/… stand beside or in the place of those of its language.
func parse(language, name string, base map[string]string, raw []byte) (Case, error) {
	kind, _, ok := strings.Cut(name, "-")
	if !ok || kind != "liar" && kind != "honest" {
		return Case{}, fmt.Errorf("the name begins neither with liar- nor with honest-")
	}
	c := Case{Name: language + "/" + name, Language: language, Liar: kind == "liar",
		Job: worker.Job{Agent: "installed", Base: map[string]string{}, Work: map[string]string{},
			Again: map[string]string{}}}
	for n, text := range base {
		c.Base[n] = text
	}
	archive := txtar.Parse(raw)
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok && strings.TrimSpace(line) != "" {
			return c, fmt.Errorf("no KEY: VALUE: %q", line)
		}
		fields := map[string]*string{"": new(string), "requirement": &c.Requirement, "agent": &c.Agent,
			"artifacts": &c.Artifacts, "named": &c.Named, "needs": &c.Needs, "open": &c.Open}
		if fields[key] == nil {
			return c, fmt.Errorf("no such key: %q", key)
		}
		*fields[key] = value
	}
	for _, f := range archive.Files {
		if err := c.take(f.Name, string(bytes.TrimRight(f.Data, "\n"))+"\n"); err != nil {
			return c, err
		}
	}
	switch {
	case c.Requirement == "":
		return c, fmt.Errorf("no requirement")
	case !slices.Contains([]string{"installed", "model", "plan", "command"}, c.Agent):
		return c, fmt.Errorf("no such agent: %q", c.Agent)
	case c.Named != "" && !c.Liar:
		return c, fmt.Errorf("nothing is named of an honest worker")
	}
	return c, nil
}

// take takes one file of a case, by the part that it belongs to.
func (c *Case) take(name, text string) error {
	part, file, _ := strings.Cut(name, "/")
	switch part {
	case "base":
		c.Base[file] = text
	case "work":
		c.Work[file] = text
	case "again":
		c.Again[file] = text
	case "gone":
		c.Gone = strings.Fields(text)
	case "gone-again":
		c.GoneAgain = strings.Fields(text)
	case "script":
		c.Script = text
	case "criteria":
		c.Criteria = text
	default:
		return fmt.Errorf("no such part: %s", name)
	}
	return nil
}

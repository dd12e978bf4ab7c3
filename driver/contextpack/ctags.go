package contextpack

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"pawl"
	"pawl/sandbox"
)

// Runner runs a command behind walls. *sandbox.Box is one.
type Runner interface {
	Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error)
}

// tagger asks universal-ctags for declarations.
type tagger struct {
	box     Runner
	program string
	env     []string
}

// Bounds of one call of ctags.
const (
	tagTime   = 30 * time.Second
	tagOutput = 64 << 20
)

// tag is one line of ctags' JSON.
type tag struct {
	Type  string `json:"_type"`
	Name  string `json:"name"`
	Path  string `json:"path"`
	Line  int    `json:"line"`
	End   int    `json:"end"`
	Kind  string `json:"kind"`
	Scope string `json:"scope"`
}

// tagKinds are the kinds of declaration that are kept, as ctags names them.
var tagKinds = map[string]kind{
	"function": kindFunc, "method": kindFunc, "func": kindFunc, "constructor": kindFunc, "getter": kindFunc,
	"setter":    kindFunc,
	"generator": kindFunc, "subroutine": kindFunc, "singletonMethod": kindFunc, "macro": kindFunc,
	"procedure": kindFunc,
	"class":     kindType, "struct": kindType, "interface": kindType, "enum": kindType, "trait": kindType,
	"implementation": kindType,
	"union":          kindType, "typedef": kindType, "type": kindType, "module": kindType, "namespace": kindType,
	"record": kindType,
	"object": kindType, "annotation": kindType, "protocol": kindType,
	"constant": kindValue,
}

// ask returns the declarations by file. What ctags says about files that it was not asked about is dropped: it reads
// what the workspace holds, and its answer is no better than that. Options that stand in the workspace are not obeyed.
func (t *tagger) ask(ctx context.Context, dir string, files []string) (map[string][]outlined, error) {
	var list bytes.Buffer
	out := make(map[string][]outlined, len(files))
	for _, f := range files {
		list.WriteString(f + "\n")
		out[f] = nil
	}
	res, err := t.box.Run(ctx, sandbox.Spec{
		Argv: []string{t.program, "--options=NONE", "--output-format=json", "--fields=+neKs", "--links=no", "--sort=no",
			"-L", "-", "-f", "-"},
		Dir: dir, Readable: []string{dir}, Stdin: list.Bytes(), Env: t.env, Timeout: tagTime, OutputLimit: tagOutput,
	})
	if err != nil {
		return nil, err
	}
	if res.Exit != 0 || res.TimedOut || res.Truncated {
		return nil, pawl.Fail(pawl.CodeEnvironment, "context.no_tags").In("contextpack.tags")
	}
	for line := range bytes.Lines(res.Output) {
		var g tag
		if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &g) != nil || g.Type != "tag" {
			continue
		}
		have, asked := out[g.Path]
		k := tagKinds[g.Kind]
		if !asked || k == 0 || g.Line < 1 || g.Name == "" || len(g.Name) > maxWord ||
			strings.HasPrefix(g.Name, "__anon") || len(have) == maxSymbols {
			continue
		}
		owner := g.Scope[strings.LastIndexAny(g.Scope, ".:")+1:]
		out[g.Path] = append(have, outlined{name: g.Name, owner: clip(owner, maxWord), kind: k, start: g.Line,
			end: max(g.Line, g.End)})
	}
	return out, nil
}

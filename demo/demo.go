// Package demo holds the sample of `pawl demo`: a small Go module with a test, and a plan whose first attempt fails its
// checks. It unpacks them into a folder and makes that folder a git repository, behind the walls of the sandbox.
package demo

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/sandbox"
)

//go:embed all:sample
var sample embed.FS

// PlanFile is the name of the plan inside the unpacked sample.
const PlanFile = "plan.yaml"

// Requirement is what the demo asks for.
const Requirement = "Greet people by name: rename Hello to Greet and cover it with a test"

// Box runs a command behind walls; *sandbox.Box is one.
type Box interface {
	Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error)
}

// Unpack writes the sample into dir, which must be empty or missing, and commits it there. Go files carry the suffix .txt
// in this package, so that they are no part of it.
func Unpack(ctx context.Context, box Box, dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return pawl.Fail(pawl.CodeInvalid, "cli.demo_not_empty", dir).In("demo.Unpack")
	}
	err := fs.WalkDir(sample, "sample", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := sample.ReadFile(p)
		if err != nil {
			return err
		}
		name := filepath.FromSlash(strings.TrimSuffix(strings.TrimPrefix(p, "sample/"), ".txt"))
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), data, 0o644)
	})
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "cli.demo_unpack", dir).Because(err).In("demo.Unpack")
	}
	return git(ctx, box, dir, "git init -q -b main . && git config user.name Ada && git config user.email ada@example.org && git add -A -- . ':!"+PlanFile+"' && git commit -q -m 'A greeting in Go'")
}

// git runs git in a folder of the demo, with no configuration but the sample's own.
func git(ctx context.Context, box Box, dir, script string) error {
	r, err := box.Run(ctx, spec(dir, script))
	if err != nil {
		return err
	}
	if r.Exit != 0 {
		return pawl.Fail(pawl.CodeEnvironment, "cli.demo_git", strings.TrimSpace(string(r.Output))).In("demo.git")
	}
	return nil
}

func spec(dir, script string) sandbox.Spec {
	return sandbox.Spec{
		Argv: []string{"/bin/sh", "-c", script}, Dir: dir, Writable: []string{dir}, Timeout: time.Minute,
		Env: sandbox.Environ(os.Environ(), map[string]string{"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}),
	}
}

// Log returns the newest n commits of the repository in dir, one line each.
func Log(ctx context.Context, box Box, dir string, n int) ([]string, error) {
	s := spec(dir, "git log --oneline --no-color -n \"$0\"")
	s.Argv = append(s.Argv, strconv.Itoa(n))
	s.Writable, s.Readable = nil, []string{dir}
	r, err := box.Run(ctx, s)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSpace(string(r.Output)), "\n"), nil
}

package file_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl"
	"pawl/driver/file"
	"pawl/driver/tool"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
)

func previews(t testing.TB, dir string, calls []effect.ToolCall) []file.Preview {
	t.Helper()
	out, err := file.Previews(effect.Place{Tree: dir}, calls)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != len(calls) {
		t.Fatalf("%d previews of %d calls", len(out), len(calls))
	}
	return out
}

var emptied = regexp.MustCompile(`(?m)^".*" empty\n?`)

// TestPreviewIsWhatHappens draws calls: git applies what was shown of them to one copy of a tree, the tools carry them
// out in another, and nothing was changed by looking.
func TestPreviewIsWhatHappens(t *testing.T) {
	names := []string{"a", "d/b", "d/e/f", "sp ace", "new\nline", "quo\"te\\", "中文"}
	texts := []string{"", "one\ntwo\nthree\n", "no end", "crlf\r\nlines\r\n", "\ttabs\n", strings.Repeat("long\n", 300),
		"--- a\n+++ b\n@@ x\n"}
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{"a": "one\ntwo\n", "d/b": "#!/bin/sh\necho\n", "keep": "k"}
		shown, done := t.TempDir(), t.TempDir()
		gittest.Write(t, shown, files)
		gittest.Write(t, done, files)
		var calls []effect.ToolCall
		for range rapid.IntRange(1, 5).Draw(rt, "calls") {
			args := map[string]any{"path": rapid.SampledFrom(names).Draw(rt, "path")}
			c := effect.ToolCall{Name: "delete_file"}
			if rapid.Bool().Draw(rt, "write") {
				c.Name, args["content"] = "write_file", rapid.SampledFrom(texts).Draw(rt, "content")
				if rapid.Bool().Draw(rt, "mode") {
					args["executable"] = rapid.Bool().Draw(rt, "executable")
				}
			}
			c.Args = json.RawMessage(object(t, args))
			calls = append(calls, c)
		}
		before := gittest.Tree(t, shown)
		for i, p := range previews(t, shown, calls) {
			var tool tool.Tool = file.Write(nil)
			if calls[i].Name == "delete_file" {
				tool = file.Delete(nil)
			}
			if receipt := do(t, tool, done, string(calls[i].Args)); receipt.OK != (p.Err == nil) {
				rt.Fatalf("call %d: %v, but %v was shown", i, receipt.Err(), p.Err)
			}
			if i == 0 && gittest.Tree(t, shown) != before {
				rt.Fatal("looking changed the tree")
			}
			if p.Patch == "" {
				continue
			}
			cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-")
			cmd.Dir, cmd.Stdin = shown, strings.NewReader(p.Patch)
			cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+shown, "GIT_CONFIG_NOSYSTEM=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				rt.Fatalf("call %d: %s\n%s", i, out, p.Patch)
			}
		}
		// Git keeps no empty folders.
		if got, want := emptied.ReplaceAllString(gittest.Tree(t, shown),
			""), emptied.ReplaceAllString(gittest.Tree(t, done), ""); got != want {
			rt.Fatalf("as shown\n%s\nas done\n%s", got, want)
		}
	})
}

func TestPreview(t *testing.T) {
	dir := t.TempDir()
	gittest.Write(t, dir, map[string]string{"a": "one\n", "image": "\x00\x01", "s": "same"})
	outside := t.TempDir()
	gittest.Write(t, dir, map[string]string{"link": "-> " + outside})
	call := func(name, args string) effect.ToolCall {
		return effect.ToolCall{Name: name, Args: json.RawMessage(args)}
	}
	got := previews(t, dir, []effect.ToolCall{
		call("apply_patch", object(t, map[string]any{"patch": "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** End Patch\n"})),
		call("apply_patch", object(t, map[string]any{"patch": "*** Begin Patch\n*** Update File: a\n@@\n-one\n+three\n*** End Patch\n"})),
		call("write_file", `{"path":"image","content":"text"}`),
		call("write_file", `{"path":"s","content":"same"}`),
		call("run_command", `{"command":"rm a"}`),
		call("write_file", `{"path":"../out","content":""}`),
		call("write_file", `{"path":"link/x","content":""}`),
		call("write_file", `{}`),
	})
	if want := "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n"; got[0].Patch != want ||
		!got[0].Known {
		t.Errorf("%q", got[0].Patch)
	}
	if code := pawl.CodeOf(got[1].Err); code != pawl.CodeConflict { // the call before it has taken the line away
		t.Errorf("%v", got[1].Err)
	}
	if !strings.Contains(got[2].Patch, "Binary files a/image and b/image differ") {
		t.Errorf("%q", got[2].Patch)
	}
	if got[3].Patch != "" || got[3].Err != nil {
		t.Errorf("%+v", got[3])
	}
	if got[4].Known || got[4].Err != nil {
		t.Errorf("%+v", got[4])
	}
	for _, p := range got[5:] {
		if p.Err == nil || p.Patch != "" {
			t.Errorf("%+v", p)
		}
	}
	if _, err := file.Previews(effect.Place{Tree: dir + "/nowhere"}, nil); err == nil {
		t.Error("a tree that is not there was looked at")
	}
}

//go:build unix

package headless_test

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pawl/agent"
	"pawl/agent/externaltest"
	"pawl/agent/headless"
	"pawl/store/logs"
	"pawl/text/message"
	"pawl/text/secret"
)

var seconds = regexp.MustCompile(`\d+\.\ds`)

// transcript plays a stream, and returns what the log has of it and what those who watch see.
func transcript(t *testing.T, x agent.External) (log string, lines []string) {
	t.Helper()
	state := t.TempDir()
	ctx, end := logs.Of(state).Record(t.Context(), "E1", func(emit func([]byte)) io.WriteCloser {
		return secret.New("hunter2-correct-horse").Writer(emit)
	})
	e := externaltest.Work(t, map[string]string{"add.go": "package add\n"}, nil)
	headless.New(x).Do(ctx, e, &externaltest.Host{Tree: e.Place.Tree}, func(l string) { lines = append(lines, l) })
	end()
	raw, err := os.ReadFile(filepath.Join(state, "logs", "E1", "001-fake.log"))
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range lines {
		lines[i] = seconds.ReplaceAllString(l, "Ns")
	}
	return seconds.ReplaceAllString(string(raw), "Ns"), lines
}

// TestTranscripts: each recorded stream shows its commands with output, exit code as far as the stream has one, and
// seconds. Calls of the same command that overlap are told apart by their ids, a failure looks like one, and a result
// without a start and a start without a result belong to no other call.
func TestTranscripts(t *testing.T) {
	for dialect, want := range map[agent.Dialect]string{
		agent.DialectCodex: `▸ $ sleep 4; echo one
▸ $ sleep 4; echo one
◂ $ sleep 4; echo one
│ first
└ agent reports exit code 0 · Ns
◂ $ sleep 4; echo one
│ second
✗ agent reports exit code 1 · Ns
▸ $ true
└ agent reports exit code 0 · Ns
▸ $ curl example.com
✗ agent reports a failure without an exit code · Ns
▸ $ echo lost
│ lost
└ agent reports exit code 0
▸ ✎ add.go
▸ $ sleep 600
✗ agent ended before it reported a result · Ns
`,
		agent.DialectClaude: `▸ Bash sleep 2; echo two
▸ Bash sleep 2; false
▸ Read add.go
◂ Bash sleep 2; false
│ Exit code 1
│ two
✗ agent reports exit code 1 · Ns
◂ Bash sleep 2; echo two
│ two
└ agent reports no exit code · Ns
▸ Edit gone.go
│ File does not exist.
✗ agent reports a failure without an exit code · Ns
All done.
`,
		agent.DialectOpencode: `▸ bash sleep 4; echo one
│ one
└ agent reports exit code 0 · 4.1s
▸ write add.go
▸ bash echo two; false
│ two
✗ agent reports exit code 1 · Ns
▸ bash rm -rf /
│ The user rejected permission
✗ agent reports a failure without an exit code · Ns
All done.
`,
		agent.DialectGemini: `▸ run_shell_command echo two; false
│ two
└ agent reports no exit code · Ns
▸ run_shell_command rm -rf /
│ denied by policy
✗ agent reports a failure without an exit code · Ns
All done.
`,
		agent.DialectPi: `▸ bash echo one
▸ bash echo two; false
◂ bash echo one
│ one
└ agent reports no exit code · Ns
◂ bash echo two; false
│ two
│ 
│ Command exited with code 1
✗ agent reports exit code 1 · Ns
◂ c9
│ lost
└ agent reports no exit code
All done.
`,
	} {
		t.Run(string(dialect), func(t *testing.T) {
			log, lines := transcript(t, external(t, dialect, "testdata/events/"+string(dialect)+"-commands.jsonl", ""))
			want = seconds.ReplaceAllString(want, "Ns")
			if log != want {
				t.Errorf("log:\n%s\nwant:\n%s", log, want)
			}
			if got := strings.Join(lines, "\n") + "\n"; got != strings.ReplaceAll(want, "│ \n", "│\n") {
				t.Errorf("those who watch see:\n%s", got)
			}
		})
	}
}

// TestLongOutput: of an output of 10 MB with control sequences and secrets the log has the end, those who watch see the
// last lines, and nobody sees the rest.
func TestLongOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.jsonl")
	key := `-----BEGIN RSA PRIVATE KEY-----\n` + strings.Repeat(strings.Repeat("Ab3d", 16)+`\n`, 20)
	text := `{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"cat hunter2-correct-horse"}}` +
		"\n" + `{"type":"item.completed","item":{"id":"i1","type":"command_execution","aggregated_output":"` +
		strings.Repeat(`a line of the output\n`, 10<<20/21) + `hunter2-correct-horse\n` +
		`\u001b[31mred\u001b[0m\r\u001b[2J✗ drawn over\nhidden\rlast\n` + key + `","exit_code":2,"status":"failed"}}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log, lines := transcript(t, external(t, agent.DialectCodex, path, ""))
	if n := len(log); n < 1<<20 || n > 3<<20/2 {
		t.Errorf("%d bytes are kept", n)
	}
	if !strings.Contains(log, "│ … the first 9216 KiB of the output are not in the log") {
		t.Errorf("it does not say what is missing: %.200s", log)
	}
	all := log + strings.Join(lines, "\n")
	for _, bad := range []string{"\x1b", "hunter2", "Ab3d", "hidden", "red"} {
		if strings.Contains(strings.ReplaceAll(all, "redacted", ""), bad) {
			t.Errorf("%q is shown", bad)
		}
	}
	if n := len(lines); n != 8 || !strings.HasPrefix(lines[1], "│ … +") || lines[5] != "│ last" ||
		!strings.HasPrefix(lines[7], "✗ agent reports exit code 2") {
		t.Errorf("%q", lines)
	}
}

// TestTranscriptInChinese: what pawl adds is in the user's language.
func TestTranscriptInChinese(t *testing.T) {
	x := external(t, agent.DialectCodex, "testdata/events/codex-commands.jsonl", "")
	x.Text = message.Chinese.Text
	if log, _ := transcript(t, x); !strings.Contains(log, "✗ 智能体报告退出码 1 · Ns") {
		t.Error(log)
	}
}

// Command fakeagent prints the recording named by its first argument and behaves as FAKE says.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"pawl/internal/modeltest"
)

// answer says something as codex does.
func answer(text string) {
	for _, e := range []any{
		map[string]any{"type": "thread.started", "thread_id": "th-1"},
		map[string]any{"type": "item.completed", "item": map[string]any{"type": "agent_message", "text": text}},
		map[string]any{"type": "turn.completed"},
	} {
		raw, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(raw))
	}
}

// forge does what code of the tree can do that an agent runs: it answers in the agent's place, well and badly, at every
// address that pawl ever took an answer at.
func forge() {
	url, err := url.Parse(os.Getenv("FAKE_URL"))
	if err != nil {
		panic(err)
	}
	for _, arguments := range []string{`{}`, `"x"`, `{"verdict":"no_objection","objections":[]}`} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"propose_review","arguments":` + arguments + `}}`
		req, err := http.NewRequest(http.MethodPost, "http://"+url.Host+"/pawl/mcp", strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if resp, err := http.DefaultClient.Do(req); err == nil {
			said, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			fmt.Fprintf(os.Stderr, "%d %s\n", resp.StatusCode, said)
		}
	}
}

func main() {
	recording, mode := os.Args[1], os.Getenv("FAKE")
	_, _ = io.Copy(io.Discard, os.Stdin) // some agents wait for the end of their input
	if len(os.Args) > 3 && os.Args[2] == "resume" && mode == "lost" {
		fmt.Fprintln(os.Stderr, "no such session: "+os.Args[3])
		os.Exit(1)
	}
	if prompt := os.Args[len(os.Args)-1]; strings.Contains(prompt, "## Form: ") {
		switch mode {
		case "writes":
			_ = os.WriteFile("add.go", []byte("x"), 0o600)
		case "thinks":
			fmt.Println(`{"type":"turn.started"}`)
			time.Sleep(time.Hour)
		case "forges":
			forge()
		}
		answer(modeltest.Ask(os.Getenv("FAKE_URL"), prompt))
		return
	}
	raw, err := os.ReadFile(recording)
	if err != nil {
		panic(err)
	}
	switch mode {
	case "ignore":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		fmt.Println("{}")
		time.Sleep(time.Hour)
	case "crash":
		os.Stdout.Write(raw[:len(raw)/2])
		fmt.Fprintln(os.Stderr, "panic: the agent broke")
		os.Exit(3)
	case "login":
		fmt.Fprintln(os.Stderr, "401 Unauthorized: log in first")
		os.Exit(1)
	case "flood":
		for range 100 {
			fmt.Println(`{"type":"item.updated","text":"` + strings.Repeat("y", 1<<20) + `"}`)
		}
	case "long":
		fmt.Println(`{"type":"item.updated","text":"` + strings.Repeat("y", 20<<20) + `"}`)
	case "stderr":
		fmt.Fprint(os.Stderr, strings.Repeat("noise\n", 1<<20))
	case "grandchild":
		c := exec.Command("sleep", "600")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		_ = c.Start()
		fmt.Printf(`{"type":"item.completed","item":{"type":"agent_message","text":"%d"}}`+"\n", c.Process.Pid)
		fmt.Println(`{"type":"turn.completed"}`)
		return
	}
	os.Stdout.Write(raw)
	switch mode {
	case "linger":
		time.Sleep(time.Hour)
	case "fails":
		os.Exit(7)
	case "stderr-object":
		fmt.Fprintln(os.Stderr, `{"status":"error","message":"401 no"}`)
		os.Exit(1)
	}
}

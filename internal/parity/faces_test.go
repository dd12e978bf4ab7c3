package parity

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/net/html"

	"pawl"
	"pawl/face/api"
	"pawl/face/cli"
	"pawl/face/cli/commands"
	"pawl/face/give"
	"pawl/face/host"
	"pawl/face/mcp"
	"pawl/face/web"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/projection"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/store/feed"
	"pawl/text/message"
)

// machine is a program around the faces that has one workspace, whose store is in memory. What no question needs is
// missing from it.
type machine struct {
	host.Host
	dir   string
	store *memory.Store
	k     *kernel.Kernel
	owner *host.Owner
}

func (m *machine) Find(string) (effect.Place, error) {
	return effect.Place{Workspace: m.dir, Tree: m.dir, Git: true}, nil
}

func (m *machine) Tools() []kernel.Tool { return nil }

func (m *machine) Open(_ context.Context, place effect.Place, _ host.Open) (*host.Workspace, error) {
	return &host.Workspace{Place: place, Kernel: m.k, Feed: feed.New(m.store, nil),
		Owner: func() (host.Owner, bool) {
			if m.owner == nil {
				return host.Owner{}, false
			}
			return *m.owner, true
		},
		Diff:     func(context.Context, effect.Place, string, string) (string, error) { return "", nil },
		Warnings: func(context.Context) []host.Finding { return nil },
		Witness:  func(context.Context) (host.Witness, error) { return host.Witness{Covers: 1 << 40}, nil },
		Earlier:  func(context.Context, bool) (*host.EarlierLog, bool, error) { return nil, false, nil },
		Verify:   func(context.Context, ...[]byte) (audit.Report, error) { return audit.Report{}, nil },
		Preview:  func(effect.Place, []effect.ToolCall) ([]host.Draft, error) { return nil, nil },
		Close:    func() error { return nil },
	}, nil
}

// faces are the four of them over one store.
type faces struct {
	*testing.T
	machine *machine
	api     http.Handler
	pages   http.Handler
	cookie  string
	client  *sdk.ClientSession
}

func facesOf(t *testing.T, m *machine) *faces {
	t.Helper()
	f := &faces{T: t, machine: m}
	owner := func() *view.Owner {
		if m.owner == nil {
			return nil
		}
		return &view.Owner{PID: m.owner.PID, Host: m.owner.Host, Started: m.owner.Started, Command: m.owner.Command,
			State: m.owner.State}
	}
	to := func(k *kernel.Kernel) give.To { return give.To{Kernel: k} }
	follow := feed.New(m.store, nil)
	f.api = api.New(api.Config{Kernel: m.k, Feed: follow, Lang: message.English, To: to,
		Working: query.Working{Owner: owner},
		Who:     func(*http.Request) *api.Caller { return &api.Caller{Name: "x", Scopes: []api.Scope{api.Read}} }})
	door := web.NewDoor(filepath.Join(t.TempDir(), "codes"), time.Now)
	f.pages = web.New(web.Config{Kernel: m.k, Feed: follow, Door: door, Lang: message.English, To: to,
		Working: query.Working{Owner: owner}})
	code, err := door.Code("user:ada")
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/enter", strings.NewReader(url.Values{"code": {code}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	entered := httptest.NewRecorder()
	f.pages.ServeHTTP(entered, r)
	f.cookie, _, _ = strings.Cut(entered.Header().Get("Set-Cookie"), ";")
	server := mcp.New(mcp.Config{Kernel: m.k, Query: query.Of(m.k), Feed: follow, Lang: message.English, Version: "test",
		Projections: func(ctx context.Context) ([]pawl.ProjectedFile, error) { return projection.Files(ctx, m.k) }})
	f.connect(server)
	return f
}

// connect has a client speak with the server over a pair of streams, as an agent's does.
func (f *faces) connect(server *mcp.Server) {
	f.Helper()
	theirs, in := io.Pipe()
	out, ours := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Stdio(ctx, theirs, ours) }()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "parity", Version: "1"}, nil).Connect(f.Context(),
		&sdk.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.client = client
	f.Cleanup(func() {
		stop()
		_ = client.Close()
		_ = ours.Close()
		<-ended
	})
}

// line asks on the command line, and returns the exit status with what was printed.
func (f *faces) line(args ...string) (status int, out, errs string) {
	f.Helper()
	var o, e bytes.Buffer
	std := host.Streams{In: strings.NewReader(""), Out: &o, Err: &e, Width: 200, Dir: f.machine.dir,
		Env: func(name string) string {
			return map[string]string{"USER": "ada", "HOME": f.machine.dir, "LANG": "en_GB.UTF-8", "NO_COLOR": "1"}[name]
		}}
	status = cli.Main(f.Context(), f.machine, std, args, commands.Entries()...)
	return status, o.String(), e.String()
}

// path asks over HTTP.
func (f *faces) path(path string) (int, string) {
	f.Helper()
	got := httptest.NewRecorder()
	f.api.ServeHTTP(got, httptest.NewRequestWithContext(f.Context(), http.MethodGet, api.Root+path, http.NoBody))
	return got.Code, strings.TrimSpace(got.Body.String())
}

// tool asks over MCP.
func (f *faces) tool(name string, args map[string]any) (text string, refused bool) {
	f.Helper()
	if args == nil {
		args = map[string]any{}
	}
	r, err := f.client.CallTool(f.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		f.Fatal(err)
	}
	return r.Content[0].(*sdk.TextContent).Text, r.IsError
}

// page asks for a page, and returns what its main part says.
func (f *faces) page(path string) said {
	f.Helper()
	r := httptest.NewRequestWithContext(f.Context(), http.MethodGet, path, http.NoBody)
	r.Header.Set("Cookie", f.cookie)
	got := httptest.NewRecorder()
	f.pages.ServeHTTP(got, r)
	if got.Code != http.StatusOK {
		f.Errorf("%s: %d", path, got.Code)
	}
	doc, err := html.Parse(got.Body)
	if err != nil {
		f.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Data == "main" {
			return said{n}
		}
	}
	f.Fatalf("%s has no main part", path)
	return said{}
}

// said is a part of a page.
type said struct{ *html.Node }

func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// part is the part of that id.
func (s said) part(id string) (said, bool) {
	for n := range s.Descendants() {
		if own, ok := attribute(n, "id"); ok && own == id {
			return said{n}, true
		}
	}
	return said{}, false
}

// texts is everything that a person, or somebody who points at it, reads there: texts, instants, hashes and commands.
func (s said) texts() string {
	var b strings.Builder
	for n := range s.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(strings.Join(strings.Fields(n.Data), " ") + "\n")
		}
		for _, name := range []string{"datetime", "title", "data-command", "data-copy"} {
			if v, ok := attribute(n, name); ok {
				b.WriteString(v + "\n")
			}
		}
	}
	return b.String()
}

// object is an answer for programs.
type object = map[string]any

func (f *faces) object(text string) object {
	f.Helper()
	var o object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		f.Fatalf("%v in %q", err, text)
	}
	return o
}

// objects are those of an answer with one on each line.
func (f *faces) objects(text string) []any {
	f.Helper()
	out := []any{}
	for l := range strings.Lines(text) {
		out = append(out, f.object(l))
	}
	return out
}

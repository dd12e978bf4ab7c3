package web

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/issues"
	"pawl/kernel/planning"
	"pawl/kernel/query"
)

var races = flag.Int("races", 30, "how many races of answers, edits and expiries are run")

// cutter passes connections on to a server, and cuts each after a number of bytes of chance.
type cutter struct {
	net.Listener
	mu sync.Mutex
	// to is where the server is, "" while there is none.
	to    string
	most  int // bytes until a connection is cut at the latest, 0 to cut none
	conns map[net.Conn]bool
	cuts  atomic.Int64
	wait  sync.WaitGroup
}

// cut starts one in front of a server.
func cut(t *testing.T, to string, most int) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, to: to, most: most, conns: map[net.Conn]bool{}}
	c.wait.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			c.wait.Go(func() { c.pass(in) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		c.set("", 0)
		c.wait.Wait()
	})
	return c
}

// set says where the server is from now on, and ends all connections, as its death would.
func (c *cutter) set(to string, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to, c.most = to, most
	for conn := range c.conns {
		_ = conn.Close()
	}
}

// keep notes a connection, unless the server has gone meanwhile.
func (c *cutter) keep(conn net.Conn, to string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.to != to {
		_ = conn.Close()
		return false
	}
	c.conns[conn] = true
	return true
}

func (c *cutter) pass(in net.Conn) {
	c.mu.Lock()
	to, most := c.to, c.most
	c.mu.Unlock()
	out, err := net.Dial("tcp", to)
	if err != nil {
		_ = in.Close()
		return
	}
	if !c.keep(in, to) || !c.keep(out, to) {
		_ = in.Close()
		_ = out.Close()
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	})
	if most > 0 {
		if _, err := io.CopyN(in, out, 1+rand.Int64N(int64(most))); err == nil {
			c.cuts.Add(1)
		}
	} else {
		_, _ = io.Copy(in, out)
	}
	_ = in.Close()
	_ = out.Close()
	both.Wait()
	c.mu.Lock()
	delete(c.conns, in)
	delete(c.conns, out)
	c.mu.Unlock()
}

// follower plays what the script of a page does with a list: it keeps the rows that it was told, and comes back with the
// id of the last message that it had whole.
type follower struct {
	last string
	rows map[string]string
}

// follow listens until the connection ends or a message with an id came that is at least upto, which it says.
func (f *follower) follow(t *testing.T, answer *http.Response, upto int64) bool {
	t.Helper()
	id, data, event := "", []string{}, ""
	lines := bufio.NewReader(answer.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return false // half a message is none
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			event = value
		case "id":
			id = value
		case "data":
			data = append(data, value)
		case "":
			if event == "rows" {
				for id, row := range rowsIn(t, strings.Join(data, "\n")) {
					f.rows[id] = row
				}
			}
			var at int64
			if id != "" {
				f.last = id
				_, _ = fmt.Sscan(id, &at)
			}
			if event != "beat" && at >= upto {
				return true
			}
			id, data, event = "", nil, ""
		}
	}
}

// TestRowsThroughCuts: where connections are cut at any byte and the server is killed now and then, the rows end as a
// fresh page has them, and none that changed was left out.
func TestRowsThroughCuts(t *testing.T) {
	l := newLab(t).enter()
	var many []issues.NewIssue
	for n := range 30 {
		many = append(many, issues.NewIssue{Title: fmt.Sprint("issue ", n)})
	}
	l.do("user:ada", &issues.AddIssues{Issues: many})
	var ids []string
	for i, err := range query.Of(l.k).Board().Issues(t.Context(), query.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, i.ID)
	}
	const most = 12_000 // a message is up to half as long: one that never came whole would never be got over
	c := cut(t, l.server.Listener.Addr().String(), most)
	f := &follower{rows: map[string]string{}}
	from, kills := l.head(), 0
	changed := map[string]bool{}
	for round := 0; round < 300 || c.cuts.Load() < 10 && round < 3000; round++ {
		n := rand.IntN(len(ids))
		name := fmt.Sprint("changed in round ", round)
		l.do("user:ada", &issues.EditIssue{Issue: ids[n], Title: &name})
		changed[fmt.Sprintf("issue-ISS-%d", n+1)] = true
		if round%10 != 9 {
			continue
		}
		for done := false; !done; {
			if kills < 5 && rand.IntN(10) == 0 { // another server is there, which knows nothing of the one before
				kills++
				c.set("", most)
				l.guard.Next = New(l.config)
				c.set(l.server.Listener.Addr().String(), most)
			}
			q := url.Values{"of": {"/board"}, "from": {stampOf(from)}}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.Addr().String()+"/live?"+q.Encode(), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = "127.0.0.1:" + l.port
			if f.last != "" {
				r.Header.Set("Last-Event-ID", f.last)
			}
			answer, err := l.client.Do(r)
			if err != nil {
				continue // it was cut before the answer began
			}
			if answer.StatusCode != http.StatusOK {
				t.Fatal(answer.Status)
			}
			done = f.follow(t, answer, l.head()-1)
			_ = answer.Body.Close()
		}
	}
	if c.cuts.Load() < 10 {
		t.Errorf("only %d connections were cut", c.cuts.Load())
	}
	want := rowsIn(t, l.get("/board").raw)
	for id := range changed {
		if f.rows[id] != want[id] {
			t.Errorf("%s ended as\n%s\nand is\n%s", id, f.rows[id], want[id])
		}
	}
}

// TestRaces: whatever is answered, edited, stopped and forgotten at the same moment, what was decided is what the form
// showed that decided it, once.
func TestRaces(t *testing.T) {
	approved, refused := 0, 0
	for round := range *races {
		won, lost := race(t, round)
		approved, refused = approved+won, refused+lost
	}
	if approved == 0 || refused == 0 {
		t.Errorf("%d were approved and %d refused: nothing raced", approved, refused)
	}
	t.Logf("%d races: %d approved, %d answers refused", *races, approved, refused)
}

// race runs one, and says how many answers counted and how many did not.
func race(t *testing.T, round int) (won, lost int) {
	l := newLab(t).enter()
	defer func() { l.server.Close(); l.client.CloseIdleConnections() }()
	l.propose()
	f := filled(l.get("/decide").form("/decide"), "answer", "approve")
	digest := f.Get("digest")
	if digest != l.approval() {
		t.Fatalf("%s is shown of %s", digest, l.approval())
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	late := func() { time.Sleep(time.Duration(rand.Int64N(int64(3 * time.Millisecond)))) }
	answer := func(form url.Values) {
		all.Go(func() {
			late()
			d := l.send(http.MethodPost, "/decide", form)
			mu.Lock()
			defer mu.Unlock()
			switch d.status {
			case http.StatusSeeOther:
				won++
			case http.StatusConflict, http.StatusUnauthorized, http.StatusNotFound, http.StatusUnprocessableEntity:
				lost++
			default:
				t.Errorf("%d %s", d.status, d.text())
			}
		})
	}
	answer(f)
	answer(f) // the same form, sent twice
	all.Go(func() {
		late()
		var c kernel.Command = &planning.Revise{Given: []byte(strings.ReplaceAll(planText, "write it", fmt.Sprint("burn it ", round))),
			Name: "b.yaml"}
		if round%3 == 1 {
			c = &planning.Revise{Feedback: "otherwise"}
		}
		if _, err := l.k.Do(t.Context(), kernel.Envelope{Actor: "user:bob", Command: c}); pawl.CodeOf(err) == pawl.CodeInternal {
			t.Error(err)
		}
	})
	if round%4 == 3 {
		all.Go(func() { late(); l.pass(visitFor) })
	}
	all.Wait()
	r, err := query.Of(l.k).Run(t.Context(), kernel.SessionLabel, "RUN-1")
	if err != nil {
		t.Fatal(err)
	}
	counted := 0
	for _, a := range r.Approvals {
		if a.Way == string(kernel.WayPage) {
			if counted++; a.Hash != digest || a.By != "user:ada" {
				t.Errorf("%+v was decided where %s was shown", a, digest)
			}
		}
	}
	if counted != won || won > 1 {
		t.Errorf("%d answers counted, and %d are kept", won, counted)
	}
	return won, lost
}

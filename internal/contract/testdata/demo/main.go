// This program does by the generated client what a person does in the demo: it has a requirement taken up, reads the plan,
// approves what it read, follows the work and looks at what landed and why. It prints that as JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// seen is what is printed.
type seen struct {
	Run, Goal, Commit, Verdict, By string
	Digest                         string
	// Records is how many records the stream told of, and Kinds of which rows.
	Records int64
	Kinds   map[string]int
	// Refused is what another digest was answered with.
	Refused string
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	out, err := demo(ctx, os.Args[1], os.Args[2], os.Args[3])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// demo has a requirement taken up by a server.
func demo(ctx context.Context, server, token, requirement string) (out seen, err error) {
	c, err := NewClient(server+"/api/v1", WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	if err != nil {
		return out, err
	}
	log, err := read[Log](c.GetLog(ctx, &GetLogParams{}))
	if err != nil {
		return out, err
	}
	key := "demo"
	begun, err := read[Commanded](c.Run(ctx, &RunParams{IdempotencyKey: &key}, Requirement{Requirement: &requirement}))
	if err != nil {
		return out, err
	}
	if begun.Status.Run == nil || !begun.Changed {
		return out, fmt.Errorf("nothing was taken up: %+v", begun)
	}
	out.Run, out.Kinds = begun.Status.Run.Id, map[string]int{}
	from := strconv.FormatInt(log.Size, 10)
	err = follow(ctx, c, &FollowLogParams{From: &from}, func(r Record) (bool, error) {
		if r.Index != log.Size+out.Records {
			return false, fmt.Errorf("record %d comes behind %d", r.Index, log.Size+out.Records-1)
		}
		out.Records++
		sealed, _ := r.Record.(map[string]any)
		subject, _ := sealed["subject"].(string)
		kind, _, _ := strings.Cut(subject, ":")
		out.Kinds[kind]++
		st, err := read[Status](c.GetStatus(ctx, nil))
		if err == nil && st.Approval != nil && out.Digest == "" {
			err = answer(ctx, c, &out)
		}
		if err == nil && st.Blocked != nil {
			err = fmt.Errorf("the work is blocked: %+v", *st.Blocked)
		}
		return err == nil && out.Digest != "" && st.Run == nil, err
	})
	if err != nil {
		return out, err
	}
	r, err := read[Report](c.GetRun(ctx, out.Run))
	switch {
	case err != nil:
		return out, err
	case r.Landing == nil || r.Landing.Commit == nil || r.Proof == nil || r.Approvals == nil || len(*r.Approvals) != 1 ||
		(*r.Approvals)[0].AnsweredBy == nil:
		return out, fmt.Errorf("nothing landed: %+v", r)
	}
	out.Commit, out.Verdict, out.By = *r.Landing.Commit, r.Proof.Verdict, *(*r.Approvals)[0].AnsweredBy
	return out, nil
}

// answer reads the plan that waits, and approves what it read, and nothing else.
func answer(ctx context.Context, c *Client, out *seen) error {
	p, err := read[Plan](c.GetPlan(ctx, nil))
	if err != nil {
		return err
	}
	if p.Approval == nil || p.Approval.Hash != p.Hash || p.Steps == nil || len(*p.Steps) == 0 {
		return fmt.Errorf("this is not the plan that waits: %+v", p)
	}
	out.Goal, out.Digest = p.Goal, p.Hash
	var other *refusal
	_, err = read[Commanded](c.Approve(ctx, nil, Seen{Digest: strings.Repeat("0", len(p.Hash))}))
	if !errors.As(err, &other) || other.Now == nil || other.Now.Hash != p.Hash {
		return fmt.Errorf("another digest is answered with %v", err)
	}
	out.Refused = other.Code
	done, err := read[Commanded](c.Approve(ctx, nil, Seen{Digest: p.Hash}))
	if err == nil && (!done.Changed || done.Status.Approval != nil) {
		err = fmt.Errorf("the approval changed nothing: %+v", done)
	}
	return err
}

// refusal is a problem that the server answered with.
type refusal struct{ Problem }

func (r *refusal) Error() string { return r.Code + ": " + r.Detail }

// read reads an answer.
func read[T any](r *http.Response, err error) (v T, _ error) {
	if err != nil {
		return v, err
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return v, err
	}
	if r.StatusCode != http.StatusOK {
		no := &refusal{}
		if err := json.Unmarshal(raw, &no.Problem); err != nil {
			return v, fmt.Errorf("%d: %s", r.StatusCode, raw)
		}
		return v, no
	}
	return v, json.Unmarshal(raw, &v)
}

// follow hands on each record of the stream until use has seen enough.
func follow(ctx context.Context, c *Client, at *FollowLogParams, use func(Record) (enough bool, err error)) error {
	r, err := c.FollowLog(ctx, at)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var rec Record
		if err := json.Unmarshal([]byte(data), &rec); err != nil {
			return err
		}
		if enough, err := use(rec); enough || err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), errors.New("the stream ended"))
}

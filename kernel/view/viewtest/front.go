// Package viewtest reads what the files of a workspace show, for tests.
package viewtest

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"

	"pawl/machine/session"
)

// Front is the front matter of active_context.md.
type Front struct {
	SessionID  string `yaml:"session_id"`
	State      string `yaml:"task_status"`
	Attempts   int    `yaml:"auto_fix_attempts"`
	Checkpoint string `yaml:"last_checkpoint"`
	Stash      bool   `yaml:"stash_applied"`
	Ended      string `yaml:"last_session_end"`
	Updated    string `yaml:"last_updated"`
	Summary    string `yaml:"context_summary"`
	Projection string `yaml:"projection"`
}

// Parse reads the front matter of an active_context.md, and fails where its status is none of a session's.
func Parse(data []byte) (f Front, err error) {
	const line = "---\n"
	rest, ok := bytes.CutPrefix(data, []byte(line))
	front, _, ended := bytes.Cut(rest, []byte("\n"+line))
	if !ok || !ended {
		return f, errors.New("no front matter")
	}
	if err = yaml.Unmarshal(front, &f); err == nil && !session.Table.Known(session.State(f.State)) {
		err = fmt.Errorf("%q is not a state of a session", f.State)
	}
	return f, err
}

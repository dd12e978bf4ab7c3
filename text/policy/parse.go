package policy

import (
	"pawl"
	"pawl/text/shell"
)

// Call is one simple command that a shell command would run.
type Call struct {
	// Argv are the words of the command as the shell would pass them. A word that cannot be known before the command
	// runs is shown in its source form.
	Argv []string `json:"argv"`
	// Literal says that every word is known.
	Literal bool `json:"literal"`
}

// Shell is what a shell command would do, as far as its text shows.
type Shell struct {
	// Calls are the simple commands in order of appearance, those inside wrappers and substitutions included.
	Calls []Call `json:"calls"`
	// Paths are the paths that it names, relative to the workspace, as far as the commands are known.
	Paths []Path `json:"paths,omitempty"`
	// Network says that one of the commands is known to connect somewhere.
	Network bool `json:"network,omitempty"`
}

// ParseCommand returns what a shell command would run, without judging it. The error is CodeInvalid where the text
// holds control characters or invalid UTF-8, and CodeDenied where it is too large, nested too deep or not a command at
// all.
func ParseCommand(command string) (Shell, error) {
	j := newJudge(Request{Command: command}, Standard())
	if !j.reader.Read(command, shell.Bash, []string{""}) {
		if err := j.verdict().Err(); err != nil {
			return Shell{}, err
		}
		return Shell{}, pawl.Fail(pawl.CodeDenied, "policy.unparsable", "").In("policy.parse")
	}
	return Shell{Calls: j.calls, Paths: j.paths, Network: j.network}, nil
}

// visitor has a judge judge what a shell text would do.
type visitor struct{ judge *judge }

func (v visitor) Call(argv []shell.Word, cwds []string) shell.Outcome {
	return v.judge.call(argv, cwds)
}

func (v visitor) Declare(builtin string) { v.judge.record([]shell.Word{shell.Literal(builtin)}) }

// Assign judges the values that tune a tool by where they lead, and the variable by its name.
func (v visitor) Assign(name string, values []shell.Word, exported bool, cwds []string) {
	j := v.judge
	for _, w := range values {
		switch {
		case !j.own || !exported || !tuning(name):
		case w.Dynamic:
			j.guess(w)
		default:
			j.attached(w, cwds)
		}
	}
	j.variable(name, exported)
}

func (v visitor) Open(file shell.Word, write bool, cwds []string) {
	op := OpRead
	if write {
		op = OpWrite
	}
	v.judge.file(file, op, cwds)
}

// Doubt refuses what nobody may run, and asks about what nobody knows.
func (v visitor) Doubt(d shell.Doubt, what string) {
	j := v.judge
	switch d {
	case shell.Empty:
		j.find(Deny, CodeInvalidRequest, what)
	case shell.Ambiguous:
		j.find(Deny, CodeAmbiguous, what)
	case shell.TooComplex:
		j.find(Deny, CodeTooComplex, what)
	case shell.InvalidText:
		j.find(Deny, CodeInvalidText)
	case shell.HiddenText:
		j.find(Ask, CodeHiddenText)
	case shell.Feature:
		j.find(Ask, CodeShellFeature, what)
	case shell.Evaluated:
		j.odd(what)
	case shell.Dynamic:
		j.find(Ask, CodeDynamic, what)
	default: // it is no command
		j.find(Deny, CodeUnparsable, what)
	}
}

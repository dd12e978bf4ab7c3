package effect

import (
	"errors"
	"fmt"

	"pawl"
)

// Fault is a failure as data: an error of pawl's as it is kept, put into words where it is shown, in the reader's
// language. Key and Args name its message of the catalogue. A cause has no class of its own.
type Fault struct {
	Class pawl.Class `json:"class,omitempty"`
	Code  pawl.Code  `json:"code"`
	Key   string     `json:"key"`
	Args  []string   `json:"args,omitempty"`
	// Detail is the technical text of what is behind it; Cause is the same as data, where it is an error of pawl's.
	Detail string `json:"detail,omitempty"`
	Cause  *Fault `json:"cause,omitempty"`
}

// CauseOf keeps an error as the cause of a failure, or returns nil where it is no *pawl.Error.
func CauseOf(err error) *Fault {
	var e *pawl.Error
	if !errors.As(err, &e) {
		return nil
	}
	f := &Fault{Code: e.Code, Key: e.Key, Args: texts(e.Args), Cause: CauseOf(e.Err)}
	if e.Err != nil {
		f.Detail = e.Err.Error()
	}
	return f
}

func texts(args []any) []string {
	var out []string
	for _, a := range args {
		out = append(out, fmt.Sprint(a))
	}
	return out
}

// Err puts the error together again, nil for none. Its cause is the one that was kept as data, else the technical text.
func (f *Fault) Err() error {
	if f == nil {
		return nil
	}
	args := make([]any, len(f.Args))
	for i, a := range f.Args {
		args[i] = a
	}
	e := pawl.Fail(f.Code, f.Key, args...)
	switch {
	case f.Cause != nil:
		e = e.Because(f.Cause.Err())
	case f.Detail != "":
		e = e.Because(errors.New(f.Detail))
	}
	return e
}

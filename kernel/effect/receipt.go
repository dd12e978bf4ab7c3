package effect

import (
	"encoding/json"
	"errors"
	"fmt"

	"pawl"
)

// Succeeded returns the receipt of an attempt that worked. Result is the kind's result type.
func Succeeded(result any) Receipt {
	raw, err := json.Marshal(result)
	if err != nil {
		return Failed(pawl.Fail(pawl.CodeInternal, "runner.result_encoding").Because(err))
	}
	return Receipt{OK: true, Result: raw}
}

// Failed returns the receipt of an attempt that failed with err. Errors that are not *pawl.Error count as internal.
func Failed(err error) Receipt {
	var e *pawl.Error
	if !errors.As(err, &e) {
		e = pawl.Fail(pawl.CodeInternal, "runner.driver_failed").Because(err)
	}
	r := Receipt{Class: e.Class(), Code: e.Code, Key: e.Key, Args: texts(e.Args), Cause: CauseOf(e.Err)}
	if e.Err != nil {
		r.Detail = e.Err.Error()
	}
	return r
}

// Outcome is the receipt of an attempt that gave a result or an error. How long it took and how often it was tried is known to
// the runner, which adds it.
func Outcome(result any, err error) Receipt {
	if err != nil {
		return Failed(err)
	}
	return Succeeded(result)
}

func texts(args []any) []string {
	var out []string
	for _, a := range args {
		out = append(out, fmt.Sprint(a))
	}
	return out
}

// Cause is the error behind a failure where that is one of pawl's own, kept as data like the failure itself: it is put into
// words where it is shown, in the reader's language.
type Cause struct {
	Code pawl.Code `json:"code"`
	Key  string    `json:"key"`
	Args []string  `json:"args,omitempty"`
	// Detail is the technical text of what is behind it; Cause is the same as data where it can be.
	Detail string `json:"detail,omitempty"`
	Cause  *Cause `json:"cause,omitempty"`
}

// CauseOf keeps an error as data, or returns nil where it is no *pawl.Error.
func CauseOf(err error) *Cause {
	var e *pawl.Error
	if !errors.As(err, &e) {
		return nil
	}
	c := &Cause{Code: e.Code, Key: e.Key, Args: texts(e.Args), Cause: CauseOf(e.Err)}
	if e.Err != nil {
		c.Detail = e.Err.Error()
	}
	return c
}

// Err returns the kept error, or nil.
func (c *Cause) Err() error {
	if c == nil {
		return nil
	}
	return failure(c.Code, c.Key, c.Args, c.Detail, c.Cause)
}

// failure puts an error together again. Its cause is the one that was kept as data, else the technical text.
func failure(code pawl.Code, key string, texts []string, detail string, cause *Cause) error {
	args := make([]any, len(texts))
	for i, a := range texts {
		args[i] = a
	}
	e := pawl.Fail(code, key, args...)
	switch {
	case cause != nil:
		e = e.Because(cause.Err())
	case detail != "":
		e = e.Because(errors.New(detail))
	}
	return e
}

// FailedWith is Failed with a result beside the failure: a verification that did not pass still has its evidence.
func FailedWith(err error, result any) Receipt {
	r := Failed(err)
	if raw, encodeErr := json.Marshal(result); encodeErr == nil {
		r.Result = raw
	}
	return r
}

// Err returns the receipt's failure as an error, or nil.
func (r Receipt) Err() error {
	if r.OK {
		return nil
	}
	return failure(r.Code, r.Key, r.Args, r.Detail, r.Cause)
}

// Decode reads the receipt's result into one of the result types of this package.
func Decode[T any](raw json.RawMessage) (T, error) {
	var v T
	if len(raw) == 0 {
		return v, pawl.Fail(pawl.CodeInternal, "runner.result_missing")
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, pawl.Fail(pawl.CodeInternal, "runner.result_malformed").Because(err)
	}
	return v, nil
}

// Encode writes a spec as the raw JSON of an effect. Specs are plain values of this package, for which encoding cannot
// fail; should one ever, the empty spec makes its driver refuse.
func Encode(spec any) json.RawMessage {
	raw, err := json.Marshal(spec)
	if err != nil {
		return nil
	}
	return raw
}

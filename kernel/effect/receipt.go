package effect

import (
	"encoding/json"
	"errors"

	quick "github.com/go-json-experiment/json/v1" // reads as encoding/json does, in less time

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

// Outcome is the receipt of an attempt that gave a result or an error. How long it took and how often it was tried is
// known to the runner, which adds it.
func Outcome(result any, err error) Receipt {
	if err != nil {
		return Failed(err)
	}
	return Succeeded(result)
}

// FailedWith is Failed with a result beside the failure: a verification that did not pass still has its evidence.
func FailedWith(err error, result any) Receipt {
	r := Failed(err)
	if raw, encodeErr := json.Marshal(result); encodeErr == nil {
		r.Result = raw
	}
	return r
}

// Fault is the receipt's failure.
func (r Receipt) Fault() Fault {
	return Fault{Class: r.Class, Code: r.Code, Key: r.Key, Args: r.Args, Detail: r.Detail, Cause: r.Cause}
}

// Err returns the receipt's failure as an error, or nil.
func (r Receipt) Err() error {
	if r.OK {
		return nil
	}
	f := r.Fault()
	return f.Err()
}

// Decode reads the receipt's result into one of the result types of this package.
func Decode[T any](raw json.RawMessage) (T, error) {
	var v T
	if len(raw) == 0 {
		return v, pawl.Fail(pawl.CodeInternal, "runner.result_missing")
	}
	if err := quick.Unmarshal(raw, &v); err != nil {
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

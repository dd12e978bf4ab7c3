package effect

import (
	"encoding/json"
	"errors"
	"testing"

	"pawl"
)

// TestFailureKeepsItsCauses takes a failure through the form in which it is stored: errors of pawl behind it stay
// errors, and what is no error of pawl stays text.
func TestFailureKeepsItsCauses(t *testing.T) {
	third := errors.New("no such device")
	second := pawl.Fail(pawl.CodeDenied, "sandbox.outside", "../x").Because(third)
	first := pawl.Fail(pawl.CodeIO, "archive.write_failed", "a", 7).In("archive.Write").Because(second)
	raw, err := json.Marshal(Failed(first))
	if err != nil {
		t.Fatal(err)
	}
	var r Receipt
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	var got *pawl.Error
	if !errors.As(r.Err(), &got) || got.Code != pawl.CodeIO || got.Key != "archive.write_failed" ||
		len(got.Args) != 2 || got.Args[1] != "7" {
		t.Fatalf("%+v", got)
	}
	if !errors.As(got.Err, &got) || got.Code != pawl.CodeDenied || got.Key != "sandbox.outside" ||
		got.Args[0] != "../x" {
		t.Fatalf("%+v", got)
	}
	if got.Err == nil || got.Err.Error() != "no such device" {
		t.Errorf("%v", got.Err)
	}
	if r := Failed(third); r.Cause != nil || r.Detail != "no such device" || r.Code != pawl.CodeInternal {
		t.Errorf("%+v", r)
	}
	var none *Fault
	if none.Err() != nil || Succeeded(1).Err() != nil {
		t.Error("an error out of nothing")
	}
}

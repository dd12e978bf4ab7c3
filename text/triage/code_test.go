package triage

import (
	"errors"

	"pawl"
)

// code returns the code of an error, "" where it is none of ours.
func code(err error) pawl.Code {
	var e *pawl.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

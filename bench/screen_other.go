//go:build !linux

package main

import (
	"context"
	"errors"
)

// benchScreen measures nothing on this system.
func benchScreen(_ context.Context, s *settings, _ *program, _ string, _ func(Result)) error {
	s.say("the first screen is measured on Linux alone")
	return nil
}

// atTerminal runs nothing on this system.
func atTerminal(context.Context, *program, string, any, ...string) error {
	return errors.New("a terminal is made on Linux alone")
}

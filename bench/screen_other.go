//go:build !linux

package main

import "context"

// benchScreen measures nothing on this system.
func benchScreen(_ context.Context, s *settings, _ *program, _ string, _ func(Result)) error {
	s.say("the first screen is measured on Linux alone")
	return nil
}

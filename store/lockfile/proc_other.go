//go:build !linux

package lockfile

import "time"

// This system does not list its locks in a file: what the holder wrote is all that is known.

func flocked(string) (pid int, ok bool)              { return 0, false }
func ranged(string, int64, int64) (pid int, ok bool) { return 0, false }
func opener(string) int                              { return 0 }
func commandOf(int) string                           { return "" }
func startOf(int) time.Time                          { return time.Time{} }
func began(int) string                               { return "0" }

// Opened reports whether another process may have a file open. Here nobody can say that none has.
func Opened(string) bool { return true }

// StateOf says what a process does, "" where that is not known.
func StateOf(int) State { return "" }

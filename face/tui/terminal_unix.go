//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// stopTime is how long a process that asked to be stopped goes on at most before it is.
const stopTime = 100 * time.Millisecond

// notify asks for the signals that matter to a terminal: its size, being resumed, and the ends of it and of the
// process.
func notify(c chan os.Signal) {
	signal.Notify(c, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTERM, syscall.SIGHUP)
}

// meaning says what a signal is about; anything but a new size or being resumed is the end.
func meaning(s os.Signal) wake {
	switch s {
	case syscall.SIGWINCH:
		return resized
	case syscall.SIGCONT:
		return resumed
	}
	return pressed
}

// stop stops the process and all of its group, as the terminal does at Ctrl-Z, and returns when it goes on. Where no
// shell could let it go on it is not stopped at all, and a moment shows that.
func stop() {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	select {
	case <-on:
	case <-time.After(stopTime):
	}
}

// drawable prepares the terminal to obey control sequences; on unix all do.
func drawable(*os.File) {}

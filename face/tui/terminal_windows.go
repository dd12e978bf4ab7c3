package tui

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/windows"
)

// notify asks for the signals that end the process. A new size is seen when the prompt is drawn next.
func notify(c chan os.Signal) { signal.Notify(c, syscall.SIGTERM) }

// meaning says what a signal is about: only the end is told here.
func meaning(os.Signal) wake { return pressed }

// stop does nothing: there are no shells with jobs here.
func stop() {}

// drawable prepares the console to obey control sequences.
func drawable(out *os.File) {
	var mode uint32
	h := windows.Handle(out.Fd())
	if windows.GetConsoleMode(h, &mode) == nil {
		_ = windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	}
}

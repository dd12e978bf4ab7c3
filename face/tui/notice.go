package tui

import (
	"strings"
	"time"

	"pawl/text/display"

	"pawl/face/cli/term"
)

// Notice is how a person who may have looked away is told that something is asked.
type Notice string

// The notices.
const (
	NoticeBell    Notice = "bell"    // the terminal's bell
	NoticeDesktop Notice = "desktop" // a note of the desktop, where the terminal can make one
	NoticeOff     Notice = "off"
)

// Notices are all of them.
func Notices() []string {
	return []string{string(NoticeBell), string(NoticeDesktop), string(NoticeOff)}
}

// lookedAway is how long nobody typed before a person is called: who has just given the command looks at its question.
const lookedAway = 5 * time.Second

// Call calls a person who may have looked away, because work has come to where somebody is needed. Who typed something
// a moment ago is not called.
func (s *Screen) Call(about string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Drawn() && time.Since(s.typed) >= lookedAway {
		s.put(notice(s.Notice, about, s.Env))
	}
}

// maxNotice is how long a note may be: desktops cut them.
const maxNotice = 120

// notice is what a terminal is sent to call a person. Some terminals know one form of a desktop note and some the
// other; the unknown one does nothing. Tmux lets pass only what is wrapped for it.
func notice(n Notice, about string, env func(string) string) string {
	if n != NoticeDesktop {
		if n == NoticeBell {
			return "\a"
		}
		return ""
	}
	about, _, _ = strings.Cut(about, "\n")
	// Semicolons part the fields of a note.
	about = term.Clip(strings.ReplaceAll(display.Line(about), ";", ","), maxNotice, "…")
	out := ""
	for _, note := range []string{"\x1b]9;pawl: " + about + "\x1b\\", "\x1b]777;notify;pawl;" + about + "\x1b\\"} {
		if env("TMUX") != "" {
			note = "\x1bPtmux;" + strings.ReplaceAll(note, "\x1b", "\x1b\x1b") + "\x1b\\"
		}
		out += note
	}
	return out + "\a"
}

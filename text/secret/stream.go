package secret

import (
	"bytes"
	"strings"
)

// Bounds of what a Writer holds back.
const (
	maxHeld = 64 << 10 // bytes of a line that does not end, and of a private key
	overlap = 8 << 10  // how much of such a line is still looked at together with what follows
)

// Writer takes the secrets out of a stream, wherever it is cut into pieces. It hands on what can be no part of a secret
// any more, which is at the latest the line before the last. It is not safe for concurrent use.
type Writer struct {
	redactor *Redactor
	emit     func([]byte)
	held     []byte // a line that has not ended
	inKey    int    // how much of a private key was left out, 0 outside of one
}

// Writer returns a Writer that hands on what is left to emit. The slice is valid during the call only.
func (r *Redactor) Writer(emit func([]byte)) *Writer { return &Writer{redactor: r, emit: emit} }

// Write takes in a piece of the stream. It never fails.
func (w *Writer) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	end := bytes.LastIndexAny(w.held, "\n\r") + 1
	if end > 0 {
		w.lines(w.held[:end])
		w.held = append(w.held[:0], w.held[end:]...)
	}
	if len(w.held) > maxHeld {
		w.part(len(w.held) - overlap)
		return len(p), nil
	}
	w.part(w.settled())
	return len(p), nil
}

// Close hands on what was held back. It never fails.
func (w *Writer) Close() error {
	w.lines(w.held)
	w.held = nil
	return nil
}

// settled is the length of the line's beginning that nothing which follows can make a part of a secret: it ends before
// the last word, and no name that says that a secret follows stands in it.
func (w *Writer) settled() int {
	if w.inKey > 0 || bytes.Contains(w.held, []byte("-----")) {
		return 0
	}
	text := string(w.held)
	if at := strings.LastIndexAny(text, " \t"); at >= 0 && strings.ContainsAny(text[at+1:], alnum+"-") {
		text = text[:at+1]
	} else if at < 0 && strings.ContainsAny(text, alnum+"-") {
		return 0
	}
	for _, f := range forms { // a lead with a blank in it
		if before, _, ok := strings.Cut(f.lead, " "); ok && strings.Contains(text, before) {
			return 0
		}
	}
	if Named(text) {
		return 0
	}
	if w.redactor != nil {
		for _, k := range w.redactor.known {
			for n := min(len(k)-1, len(text)); n > 0; n-- {
				if strings.HasSuffix(text, k[:n]) && strings.ContainsAny(k[:n], " \t") {
					return 0
				}
			}
		}
	}
	return len(text)
}

// part hands on the beginning of the line that is held, up to a place that is in no secret.
func (w *Writer) part(end int) {
	if end <= 0 {
		return
	}
	for _, f := range w.redactor.Find(string(w.held)) {
		if f.From < end && f.To > end {
			end = f.To
		}
	}
	w.lines(w.held[:end])
	w.held = append(w.held[:0], w.held[end:]...)
}

// lines hands on whole lines, without their secrets. A private key goes on over them.
func (w *Writer) lines(p []byte) {
	text := string(p)
	for text != "" {
		if w.inKey > 0 {
			text = w.key(text)
			continue
		}
		at := strings.Index(text, keyLead)
		if at >= 0 {
			_, ok := keyName(text[at+len(keyLead):])
			if _, to := keyEnd(text, at+len(keyLead)); ok && (to == 0 || to == len(text)) &&
				!strings.Contains(text[at:], "-----END ") {
				w.hand(text[:at])
				w.emit([]byte(Mark(RulePrivateKey) + "\n"))
				w.inKey = 1
				if _, after, ok := strings.Cut(text[at:], "\n"); ok {
					text = after
					continue
				}
				return
			}
		}
		w.hand(text)
		return
	}
}

// key leaves out what is of a private key, and returns the rest.
func (w *Writer) key(text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	switch w.inKey += len(line) + 1; {
	case strings.HasPrefix(strings.TrimSpace(line), "-----END "):
		w.inKey = 0
		return rest
	case w.inKey < maxHeld && inKey(line):
		return rest
	}
	w.inKey = 0
	return text
}

func (w *Writer) hand(text string) {
	if text != "" {
		w.emit([]byte(w.redactor.Text(text)))
	}
}

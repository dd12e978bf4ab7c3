package shell

import (
	"bytes"
	"context"
	"strings"

	"pawl/text/display"

	"pawl/kernel/effect"
	"pawl/store/logs"
)

// maxUnfinished is how many bytes of an unfinished line are kept.
const maxUnfinished = 4096

// heard hands the output of a command on: all of it to its log, and a line now and then to those who watch.
func heard(ctx context.Context, name string, p effect.Progress) func([]byte) {
	log := logs.New(ctx, name)
	feed := &lineFeed{show: func(l string) {
		if p != nil {
			p(display.Line(logs.Mask(ctx, l)))
		}
	}}
	return func(b []byte) { _, _ = log.Write(b); feed.write(b) }
}

// lineFeed cuts output into lines for people who watch.
type lineFeed struct {
	rest []byte
	show func(string)
}

// write shows the last complete line of a piece of output. Of a flood of lines nobody could read more, and the command
// would have to wait for those who show them.
func (f *lineFeed) write(p []byte) {
	f.rest = append(f.rest, p...)
	end := bytes.LastIndexAny(f.rest, "\r\n")
	if end < 0 {
		if over := len(f.rest) - maxUnfinished; over > 0 {
			f.rest = append(f.rest[:0], f.rest[over:]...)
		}
		return
	}
	done := bytes.TrimRight(f.rest[:end], "\r\n")
	begin := bytes.LastIndexAny(done, "\r\n") + 1
	if l := strings.TrimSpace(logs.Plain(done[begin:])); l != "" {
		f.show(l)
	}
	f.rest = append(f.rest[:0], f.rest[end+1:]...)
	if over := len(f.rest) - maxUnfinished; over > 0 {
		f.rest = append(f.rest[:0], f.rest[over:]...)
	}
}

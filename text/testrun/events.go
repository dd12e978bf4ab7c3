package testrun

import (
	"bufio"
	"encoding/json"
	"io"
	"path"
	"strings"
)

// event is one line of what pawl's own reporters write (driver/verify/reporters): a test that began, a test that ended,
// or the end of the run.
type event struct {
	Event string `json:"event"` // file, begin, end, done
	File  string `json:"file"`
	Test  string `json:"test"`
	End   End    `json:"end"`
	Why   string `json:"why"` // what a test failed on
}

// maxEvents bounds what is read of a report, in bytes: a run of a hundred thousand tests needs 20 MB.
const maxEvents = 256 << 20

// Read reads the report of one of pawl's reporters, whose paths lie below root, with slashes. Lines that are no events
// make it a report that is not whole, as does the want of its last line.
func Read(runner Runner, r io.Reader, root string) Run {
	run := newRun(runner)
	lines := bufio.NewScanner(io.LimitReader(r, maxEvents))
	lines.Buffer(nil, maxLine)
	torn, done := false, false
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			torn = true
			continue
		}
		name := Name{File: below(root, e.File), Test: e.Test}
		switch e.Event {
		case "file":
			run.Files[name.File] = true
		case "begin":
			run.end(name, Unended)
		case "end":
			switch e.End {
			case Passed, Failed, Skipped, Excused:
				run.end(name, e.End)
				run.say(name, e.Why)
			default:
				torn = true
			}
		case "done":
			done = true
		}
	}
	run.Whole = done && !torn && lines.Err() == nil
	return run
}

// below is a path from the root, where it lies there.
func below(root, file string) string {
	file = path.Clean(strings.TrimPrefix(file, "file://"))
	if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); ok {
		return rest
	}
	return file
}

package file

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

// Bounds of read_file.
const (
	maxRead      = 1_000_000 // bytes of content in one answer (docs/spec/turn.md#settings)
	maxLine      = 2_000     // bytes of one line before it is cut
	defaultLines = 2_000
	sniff        = 8_000 // bytes in which a NUL makes a file binary, as git judges
)

// How the bytes of a file are encoded.
const (
	encodingUTF8    = "utf-8"
	encodingInvalid = "invalid-utf8"
	encodingBinary  = "binary"
)

// Read is the tool read_file. It returns a window of lines of a text file, and of any other regular file its size and
// hash.
type Read struct{}

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

var readParams = effect.Object{
	{Name: "path", Type: effect.String, Required: true, Min: 1, Max: 4096, About: "File, relative to the workspace."},
	{Name: "offset", Type: effect.Integer, Min: 1, Max: 1 << 40, About: "First line, counted from 1; 1 unless given."},
	{Name: "limit", Type: effect.Integer, Min: 1, Max: 100_000, About: "Number of lines; 2000 unless given."},
}

var readReturn = effect.Object{
	{Name: "path", Type: effect.String, Required: true},
	{Name: "content", Type: effect.String, Required: true,
		About: "The lines with their endings; empty for a binary file. Bytes that are not UTF-8 are shown as U+FFFD."},
	{Name: "encoding", Type: effect.String, Required: true,
		Enum: []string{encodingUTF8, encodingInvalid, encodingBinary}},
	{Name: "start_line", Type: effect.Integer, Required: true},
	{Name: "end_line", Type: effect.Integer, Required: true,
		About: "Last line of content; start_line - 1 when there is none."},
	{Name: "total_lines", Type: effect.Integer, Required: true, About: "Lines of the whole file; 0 for a binary file."},
	{Name: "truncated", Type: effect.Boolean, Required: true, About: "The file goes on behind end_line."},
	{Name: "cut_lines", Type: effect.Integer, Required: true,
		About: "Number of lines that were longer than 2000 bytes and end in a marker that says how much is missing."},
	{Name: "size", Type: effect.Integer, Required: true, About: "Bytes of the whole file."},
	{Name: "sha256", Type: effect.String, Required: true, About: "Hash of the whole file."},
}

// window is the payload of read_file.
type window struct {
	Path       string `json:"path"`
	Content    string `json:"content"`
	Encoding   string `json:"encoding"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	TotalLines int    `json:"total_lines"`
	Truncated  bool   `json:"truncated"`
	CutLines   int    `json:"cut_lines"`
	Size       int64  `json:"size"`
	SHA256     string `json:"sha256"`
}

// Info describes the tool.
func (Read) Info() effect.ToolInfo {
	return effect.ToolInfo{
		Name: "read_file", Version: "1.0.0",
		Description:  "Read a file of the workspace, or a window of its lines.",
		ArgsSchema:   readParams.Schema(),
		ReturnSchema: readReturn.Schema(),
		Permissions:  []policy.Permission{policy.FSRead},
		SideEffects:  []string{}, Idempotent: true, DefaultTimeMS: defaultTimeMS,
	}
}

// Request reduces a call to what policy judges. Malformed arguments are refused with pawl.CodeInvalid.
func (Read) Request(args json.RawMessage) (policy.Request, error) {
	a, err := decodeRead(args)
	return request("read_file", policy.Path{Rel: a.Path, Op: policy.OpRead}), err
}

func decodeRead(raw json.RawMessage) (readArgs, error) {
	a := readArgs{Offset: 1, Limit: defaultLines}
	err := readParams.Decode(raw, &a)
	if err == nil {
		a.Path, err = cleanFile(a.Path)
	}
	return a, err
}

// Do reads the file. A file of any size is answered in bounded memory: its lines are counted and its bytes hashed as
// they pass by.
func (Read) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	start := time.Now()
	call, err := effect.Decode[effect.ToolCall](e.Spec)
	if err != nil {
		return finish(start, effect.Failed(err))
	}
	a, err := decodeRead(call.Args)
	if err != nil {
		return finish(start, effect.Failed(err))
	}
	w, err := readFile(ctx, e, a)
	if err != nil {
		return finish(start, effect.Failed(err))
	}
	return finish(start, effect.Succeeded(effect.ToolResult{
		CallID: call.CallID, Payload: effect.Encode(w), DurationMS: time.Since(start).Milliseconds(),
		Artifacts: effect.Artifacts{FilesChanged: []string{}, CommandsRun: []string{}},
	}))
}

// Done says no: reading again is the same as reading once.
func (Read) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

// Undo succeeds, because there is nothing to undo.
func (Read) Undo(context.Context, effect.Effect, effect.Receipt) effect.Receipt {
	return effect.Succeeded(effect.ToolResult{})
}

func readFile(ctx context.Context, e effect.Effect, a readArgs) (window, error) {
	rel, err := effect.LocalPath(a.Path)
	if err != nil {
		return window{}, err
	}
	t, err := openTree(e)
	if err != nil {
		return window{}, err
	}
	defer t.close()
	if err := t.hidden.Refuse(rel); err != nil {
		return window{}, err
	}
	info, err := t.stat(rel)
	switch {
	case err != nil:
		return window{}, err
	case info == nil:
		return window{}, pawl.Fail(pawl.CodeNotFound, "file.not_found", rel).In("file.read")
	case info.IsDir():
		return window{}, pawl.Fail(pawl.CodeInvalid, "file.is_folder", rel).In("file.read")
	case !info.Mode().IsRegular():
		return window{}, pawl.Fail(pawl.CodeInvalid, "file.not_regular", rel).In("file.read")
	}
	f, err := t.root.Open(rel)
	if err != nil {
		return window{}, err
	}
	defer f.Close()
	w, err := readWindow(ctx, f, a.Offset, a.Limit)
	w.Path = rel
	return w, err
}

// counted passes a file's bytes on while it hashes and counts them, and stops when the call is canceled.
type counted struct {
	ctx  context.Context
	from io.Reader
	sum  hash.Hash
	size int64
}

func (c *counted) Read(p []byte) (int, error) {
	if err := canceled(c.ctx); err != nil {
		return 0, err
	}
	n, err := c.from.Read(p)
	c.sum.Write(p[:n])
	c.size += int64(n)
	return n, err
}

func readWindow(ctx context.Context, from io.Reader, offset, limit int) (window, error) {
	src := &counted{ctx: ctx, from: from, sum: sha256.New()}
	r := bufio.NewReaderSize(src, 64<<10)
	w := window{Encoding: encodingUTF8, StartLine: offset, EndLine: offset - 1}
	head, err := r.Peek(sniff)
	if err != nil && !errors.Is(err, io.EOF) {
		return w, readError(err)
	}
	if bytes.IndexByte(head, 0) >= 0 {
		w.Encoding, w.StartLine, w.EndLine = encodingBinary, 0, 0
		_, err = io.Copy(io.Discard, r)
	} else {
		err = w.collect(r, limit)
	}
	if err != nil {
		return w, readError(err)
	}
	w.Size, w.SHA256 = src.size, hex.EncodeToString(src.sum.Sum(nil))
	return w, nil
}

func readError(err error) error {
	var known *pawl.Error
	if errors.As(err, &known) {
		return err
	}
	return pawl.Fail(pawl.CodeIO, "file.io").In("file.read").Because(err)
}

// collect reads all lines and keeps those of the window.
func (w *window) collect(r *bufio.Reader, limit int) error {
	var b strings.Builder
	full := false
	for {
		text, end, dropped, err := nextLine(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		w.TotalLines++
		if w.TotalLines < w.StartLine || full {
			continue
		}
		if !utf8.ValidString(text) {
			w.Encoding = encodingInvalid
			text = strings.ToValidUTF8(text, "\uFFFD")
		}
		if dropped > 0 {
			text += "… [+" + strconv.FormatInt(dropped, 10) + " bytes]"
		}
		if b.Len()+len(text)+len(end) > maxRead || w.EndLine-w.StartLine+1 >= limit {
			full = true
			continue
		}
		if dropped > 0 {
			w.CutLines++
		}
		b.WriteString(text + end)
		w.EndLine = w.TotalLines
	}
	w.Content = b.String()
	w.Truncated = w.TotalLines > w.EndLine && w.TotalLines >= w.StartLine
	return nil
}

// nextLine returns the next line without its ending, cut to maxLine bytes at a character, with the number of bytes that
// were dropped. A lone carriage return does not end a line.
func nextLine(r *bufio.Reader) (text, end string, dropped int64, err error) {
	var kept []byte
	var size int64
	var tail [2]byte // the last two bytes
	for {
		var part []byte
		part, err = r.ReadSlice('\n')
		size += int64(len(part))
		for _, c := range part[max(0, len(part)-2):] {
			tail = [2]byte{tail[1], c}
		}
		if room := maxLine + utf8.UTFMax - len(kept); room > 0 {
			kept = append(kept, part[:min(room, len(part))]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return "", "", 0, err
	case size == 0:
		return "", "", 0, io.EOF
	case tail == [2]byte{'\r', '\n'}:
		end = "\r\n"
	case tail[1] == '\n':
		end = "\n"
	}
	size -= int64(len(end))
	kept = kept[:min(int64(len(kept)), size)]
	if len(kept) > maxLine {
		n := maxLine
		for n > maxLine-utf8.UTFMax && !utf8.RuneStart(kept[n]) {
			n--
		}
		kept = kept[:n]
	}
	return string(kept), end, size - int64(len(kept)), nil
}

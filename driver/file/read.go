package file

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"pawl"
	"pawl/driver/tool"
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

type readArgs struct {
	Path   string `json:"path" min:"1" max:"4096" about:"File, relative to the workspace."`
	Offset int    `json:"offset,omitempty" min:"1" max:"1099511627776" about:"First line, counted from 1; 1 unless given."`
	Limit  int    `json:"limit,omitempty" min:"1" max:"100000" about:"Number of lines; 2000 unless given."`
}

// window is the payload of read_file.
type window struct {
	Path       string `json:"path"`
	Content    string `json:"content" about:"The lines with their endings; empty for a binary file. Bytes that are not UTF-8 are shown as U+FFFD."`
	Encoding   string `json:"encoding" enum:"utf-8,invalid-utf8,binary"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line" about:"Last line of content; start_line - 1 when there is none."`
	TotalLines int    `json:"total_lines" about:"Lines of the whole file; 0 for a binary file."`
	Truncated  bool   `json:"truncated" about:"The file goes on behind end_line."`
	CutLines   int    `json:"cut_lines" about:"Number of lines that were longer than 2000 bytes and end in a marker that says how much is missing."`
	Size       int64  `json:"size" about:"Bytes of the whole file."`
	SHA256     string `json:"sha256" about:"Hash of the whole file."`
}

// Read is the tool read_file. It returns a window of lines of a text file, and of any other regular file its size and
// hash. A file of any size is answered in bounded memory: its lines are counted and its bytes hashed as they pass by.
func Read() tool.Tool {
	return tool.New(tool.Declaration[readArgs, window]{
		Info: effect.ToolInfo{
			Name: "read_file", Version: "1.0.0",
			Description: "Read a file of the workspace, or a window of its lines.",
			Permissions: []policy.Permission{policy.FSRead},
			SideEffects: []string{}, Idempotent: true, DefaultTimeMS: defaultTimeMS,
		},
		Defaults:  readArgs{Offset: 1, Limit: defaultLines},
		Normalize: func(a *readArgs) error { return cleanFile(&a.Path) },
		Request:   func(a readArgs) policy.Request { return request(a.Path, policy.OpRead) },
		Do: func(ctx context.Context, c *tool.Call, a readArgs) (*window, error) {
			return readFile(ctx, c.Effect.Place, a)
		},
	})
}

func readFile(ctx context.Context, at effect.Place, a readArgs) (*window, error) {
	rel, err := effect.LocalPath(a.Path)
	if err != nil {
		return nil, err
	}
	t, err := openTree(at)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if err := t.hidden.Refuse(rel); err != nil {
		return nil, err
	}
	info, err := t.stat(rel)
	switch {
	case err != nil:
		return nil, err
	case info == nil:
		return nil, pawl.Fail(pawl.CodeNotFound, "file.not_found", rel).In("file.read")
	case info.IsDir():
		return nil, pawl.Fail(pawl.CodeInvalid, "file.is_folder", rel).In("file.read")
	case !info.Mode().IsRegular():
		return nil, pawl.Fail(pawl.CodeInvalid, "file.not_regular", rel).In("file.read")
	}
	f, err := t.root.Open(rel)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w := &window{Path: rel, Encoding: encodingUTF8, StartLine: a.Offset, EndLine: a.Offset - 1}
	if err := w.read(ctx, f, a.Limit); err != nil {
		return nil, err
	}
	return w, nil
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

func (w *window) read(ctx context.Context, from io.Reader, limit int) error {
	src := &counted{ctx: ctx, from: from, sum: sha256.New()}
	r := bufio.NewReaderSize(src, 64<<10)
	head, err := r.Peek(sniff)
	if err != nil && !errors.Is(err, io.EOF) {
		return readError(err)
	}
	if bytes.IndexByte(head, 0) >= 0 {
		w.Encoding, w.StartLine, w.EndLine = encodingBinary, 0, 0
		_, err = io.Copy(io.Discard, r)
	} else {
		err = w.collect(r, limit)
	}
	if err != nil {
		return readError(err)
	}
	w.Size, w.SHA256 = src.size, hex.EncodeToString(src.sum.Sum(nil))
	return nil
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

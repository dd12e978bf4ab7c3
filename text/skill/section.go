package skill

import (
	"bytes"
	"strings"

	"pawl"
	"pawl/text/markdown"
	"pawl/text/message"
)

// The markers of pawl's section in a document of somebody else's. Each stands on a line of its own.
const (
	markBegin = "<!-- pawl:begin (written by pawl skill install; pawl skill install --remove takes it back) -->"
	markEnd   = "<!-- pawl:end -->"

	// What is enough to know them by, whatever else a later version writes into them.
	knownBegin = "<!-- pawl:begin"
	knownEnd   = "<!-- pawl:end"
)

// MaxDoc bounds a document in which a section is put, in bytes.
const MaxDoc = 4 << 20

// Put puts the section into a document, or in the place of the one that is there. The rest stays as it is, byte by
// byte; line ends are those of the document. To put it a second time changes nothing, and Cut gives back what was
// before.
func Put(doc []byte, lang message.Lang) ([]byte, error) {
	from, to, err := find(doc)
	if err != nil {
		return nil, err
	}
	end := markdown.LineBreak(string(doc[max(0, from):]))
	block := strings.ReplaceAll(markBegin+"\n"+Section(lang)+markEnd, "\n", end)
	switch {
	case from >= 0:
		return join(doc[:from], []byte(block), doc[to:]), nil
	case len(doc) == 0:
		return []byte(block + end), nil
	case bytes.HasSuffix(doc, []byte("\n")):
		return join(doc, []byte(end+block+end), nil), nil
	}
	// A document whose last line has no end gets a section whose last line has none either, by which Cut knows it
	// again.
	return join(doc, []byte(end+end+block), nil), nil
}

// Cut takes the section out of a document, with the blank line that Put has set before it; found says that there was
// one. What is left of a document that Put has made is empty.
func Cut(doc []byte) (rest []byte, found bool, err error) {
	from, to, err := find(doc)
	if err != nil || from < 0 {
		return doc, false, err
	}
	before, behind := doc[:from], doc[to:]
	end := []byte(markdown.LineBreak(string(doc[from:])))
	closed := bytes.HasPrefix(behind, end)
	behind = bytes.TrimPrefix(behind, end)
	before = bytes.TrimSuffix(before, end)
	if !closed && len(behind) == 0 {
		before = bytes.TrimSuffix(before, end)
	}
	return join(before, behind, nil), true, nil
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// find finds the section: where its first marker begins and its last one ends, -1 where there is none. Markers that do
// not make one section are refused with their line, because nobody can tell what is pawl's then.
func find(doc []byte) (from, to int, err error) {
	const op = "skill.Put"
	if len(doc) > MaxDoc {
		return -1, -1, pawl.Fail(pawl.CodeInvalid, "skill.doc_large", len(doc), MaxDoc).In(op)
	}
	if markdown.NotText(doc) > 0 {
		return -1, -1, pawl.Fail(pawl.CodeInvalid, "skill.doc_binary").In(op)
	}
	from, to = -1, -1
	at, n := 0, 0
	for line := range bytes.Lines(doc) {
		n++
		text := bytes.TrimRight(line, "\r\n")
		begins, ends := bytes.HasPrefix(text, []byte(knownBegin)), bytes.HasPrefix(text, []byte(knownEnd))
		if (begins || ends) && !bytes.HasSuffix(text, []byte("-->")) || begins && from >= 0 || ends &&
			(from < 0 || to >= 0) {
			return -1, -1, pawl.Fail(pawl.CodeInvalid, "skill.markers", n).In(op)
		}
		switch {
		case begins:
			from = at
		case ends:
			to = at + len(text)
		}
		at += len(line)
	}
	if from >= 0 && to < 0 {
		return -1, -1, pawl.Fail(pawl.CodeInvalid, "skill.markers", 1+bytes.Count(doc[:from], []byte("\n"))).In(op)
	}
	return from, to, nil
}

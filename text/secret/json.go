package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// JSON takes secrets out of the texts of a document, and leaves everything else of it byte for byte. A text that
// is the base64 of a text is looked into.
func JSON(raw json.RawMessage, redact func(string) string) (out json.RawMessage, changed bool) {
	var b bytes.Buffer
	rest := []byte(raw)
	for {
		start := bytes.IndexByte(rest, '"')
		if start < 0 {
			break
		}
		end := closing(rest, start)
		if end < 0 {
			break
		}
		var text string
		if json.Unmarshal(rest[start:end], &text) == nil {
			if clean := redactText(text, redact); clean != text {
				quoted, err := encode(clean)
				if err == nil {
					b.Write(rest[:start])
					b.Write(quoted)
					rest, changed = rest[end:], true
					continue
				}
			}
		}
		b.Write(rest[:end])
		rest = rest[end:]
	}
	if !changed {
		return raw, false
	}
	b.Write(rest)
	return b.Bytes(), true
}

// closing returns the place behind the quote that ends the text which begins at start, or -1.
func closing(raw []byte, start int) int {
	for i := start + 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// minPacked is the length from which a text may be a packed one.
const minPacked = 16

func redactText(text string, redact func(string) string) string {
	clean := redact(text)
	if clean != text || len(text) < minPacked || len(text)%4 != 0 {
		return clean
	}
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !utf8.Valid(packed) {
		return text
	}
	if inner := redact(string(packed)); inner != string(packed) {
		return base64.StdEncoding.EncodeToString([]byte(inner))
	}
	return text
}

// encode writes a text with its characters as they are.
func encode(text string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(text)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// maxDepth bounds how deep a document of a model may be nested.
const maxDepth = 100

// strict reports what keeps a text from being one JSON object that every reader understands alike: text that is no object,
// anything behind it, and keys that repeat or differ by case alone.
func strict(raw []byte) error {
	if !json.Valid(raw) {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return err
		}
		return errors.New("not JSON")
	}
	if raw = bytes.TrimSpace(raw); raw[0] != '{' {
		return errors.New("not a JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return value(d, 0)
}

func value(d *json.Decoder, depth int) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch t {
	case json.Delim('{'):
		return members(d, depth)
	case json.Delim('['):
		for d.More() {
			if err := value(d, depth+1); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

// members reads the rest of an object.
func members(d *json.Decoder, depth int) error {
	seen := map[string]string{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key := t.(string) // the decoder allows nothing else here
		same := fold(key)
		if other, ok := seen[same]; ok {
			return fmt.Errorf("the keys %q and %q are the same", other, key)
		}
		seen[same] = key
		if err := value(d, depth+1); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// fold returns one spelling for all texts that differ by case alone, in the sense of Unicode.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for n := unicode.SimpleFold(r); n != r; n = unicode.SimpleFold(n) {
			least = min(least, n)
		}
		return least
	}, s)
}

package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pawl/agent/wire"
	"pawl/text/strictjson"
)

// facts are what a request says of its cost.
type facts struct {
	model   string
	in      int64 // estimated tokens of the request
	out     int64 // most tokens of an answer, 0 where the request does not say
	answers int64 // how many answers are asked for
	tools   bool  // tools are offered
}

// maxCount bounds the numbers of a request, so that sums and products of them stay numbers.
const maxCount = 100_000_000

// errHidden refuses what would cost more than can be seen.
var errHidden = errors.New("asks for something whose cost or reach cannot be seen here")

// hidden are members of a request that name what is stored elsewhere, or work that goes on when nobody looks, or
// servers that the provider is to talk to.
var hidden = []string{"background", "previousresponseid", "conversation", "prompt", "cachedcontent", "mcpservers"}

// plain is a name as the loosest reader takes it: without its case, and without the underscores that some may leave
// out.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// inspect reads the facts. A request that has two members of the same plain name says different things to different
// readers, and is refused.
func inspect(t target, body []byte) (facts, error) {
	f := facts{model: t.Model, in: tokens(body), answers: 1}
	err := members(body, func(name string, value json.RawMessage) error {
		if slices.Contains(hidden, name) && !empty(value) && (name != "mcpservers" || !t.Hosted) {
			return fmt.Errorf("%q %w", name, errHidden)
		}
		switch name {
		case "model":
			if t.Model != "" {
				return nil
			}
			return json.Unmarshal(value, &f.model)
		case "maxtokens", "maxcompletiontokens", "maxoutputtokens":
			return most(&f.out, value)
		case "n":
			return most(&f.answers, value)
		case "generationconfig":
			return members(value, func(name string, value json.RawMessage) error {
				switch name {
				case "maxoutputtokens":
					return most(&f.out, value)
				case "candidatecount":
					return most(&f.answers, value)
				}
				return nil
			})
		case "input":
			found, err := toolsOfInput(t, value)
			f.tools = f.tools || found
			return err
		case "tools":
			f.tools = f.tools || !empty(value)
			if t.Hosted {
				return nil
			}
			return hosted(t.Kind, value, 0)
		}
		return nil
	})
	if err == nil && f.model == "" {
		err = errors.New("the request names no model")
	}
	return f, err
}

// toolsOfInput looks for tools among the items of a conversation, where newer models are offered them in an item of its
// own.
func toolsOfInput(t target, value json.RawMessage) (found bool, err error) {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return false, nil // a text
	}
	for _, raw := range items {
		if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
			continue
		}
		err := members(raw, func(name string, value json.RawMessage) error {
			if name != "tools" {
				return nil
			}
			found = found || !empty(value)
			if t.Hosted {
				return nil
			}
			return hosted(t.Kind, value, 0)
		})
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// most takes the larger one of two numbers.
func most(to *int64, value json.RawMessage) error {
	if empty(value) {
		return nil
	}
	var n float64
	if err := json.Unmarshal(value, &n); err != nil || n < 0 || n > maxCount || n != float64(int64(n)) {
		return fmt.Errorf("%s is no number of tokens or answers", value)
	}
	*to = max(*to, int64(n))
	return nil
}

// ownTypes are the tools that the agent runs itself, by the beginnings of their types; "" is one without a type.
var ownTypes = []string{"function", "custom", "namespace", "local_shell", "apply_patch", "computer", "bash",
	"text_editor", "memory", "tool_search_tool"}

// maxDepth is how deep tools may lie in tools; one form has one such level.
const maxDepth = 2

// hosted refuses every tool that is not known to be run by the agent itself: the provider would run it, and reach
// places of the agent's choice.
func hosted(k wire.Provider, value json.RawMessage, depth int) error {
	if empty(value) {
		return nil
	}
	if depth > maxDepth {
		return errors.New("the tools lie too deep")
	}
	var tools []json.RawMessage
	if err := json.Unmarshal(value, &tools); err != nil {
		return errors.New("the tools are no list")
	}
	for _, raw := range tools {
		kind, inside := "", false
		err := members(raw, func(name string, value json.RawMessage) error {
			switch {
			case k == wire.Google:
				// Here a tool has no type; each of its members is one.
				if name != "functiondeclarations" && name != "computeruse" {
					kind = name
				}
				return nil
			case name == "type":
				return json.Unmarshal(value, &kind)
			case name == "externalwebaccess":
				// A search that is told to stay in what the provider knows reaches nothing.
				inside = string(value) == "false"
			case name == "tools":
				return hosted(k, value, depth+1)
			}
			return nil
		})
		if err != nil {
			return err
		}
		own := slices.ContainsFunc(ownTypes,
			func(p string) bool { return k != wire.Google && strings.HasPrefix(kind, p) })
		if kind != "" && !own && !(inside && kind == "web_search") {
			return fmt.Errorf("a tool of type %q %w", kind, errHidden)
		}
	}
	return nil
}

// empty says that a value is null, false, "", {} or [].
func empty(value json.RawMessage) bool {
	switch string(bytes.TrimSpace(value)) {
	case "null", "false", `""`, "{}", "[]":
		return true
	}
	return false
}

// members hands the members of an object to see, by their plain names.
func members(raw []byte, see func(name string, value json.RawMessage) error) error {
	v, err := strictjson.Parse(raw, strictjson.Options{Repeats: true, HalfPairs: true})
	switch {
	case err != nil:
		return fmt.Errorf("the request is no JSON: %w", err)
	case v.Kind() != strictjson.Object:
		return errors.New("the request is no JSON object")
	}
	seen := map[string]bool{}
	for m := range v.Members() {
		name := plain(m.Name)
		if seen[name] {
			return fmt.Errorf("the request has more than one %q", name)
		}
		seen[name] = true
		if err := see(name, m.Value.Raw()); err != nil {
			return err
		}
	}
	return nil
}

// What an image or another file in base64 counts at most, and how long a run of its letters has to be to be taken for
// one.
const (
	fileTokens = 3000
	fileRun    = 4096
)

// tokens estimates the tokens of a request or an answer from above: three bytes of ASCII each, since code and JSON take
// more tokens than prose, and one and a half for every other rune. Files in base64 are charged by the piece.
func tokens(raw []byte) int64 {
	var ascii, other, files, run int64
	flush := func() {
		if run >= fileRun {
			files++
		} else {
			ascii += run
		}
		run = 0
	}
	for _, b := range raw {
		switch {
		case inBase64[b]:
			run++
			continue
		case b < 0x80:
			ascii++
		case b >= 0xC0: // the first byte of a rune
			other++
		}
		flush()
	}
	flush()
	return (ascii+2)/3 + (other*3+1)/2 + files*fileTokens
}

// inBase64 are the letters of base64.
var inBase64 = func() (t [256]bool) {
	for _, b := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") {
		t[b] = true
	}
	return t
}()

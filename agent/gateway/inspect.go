package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

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

// fields are the members of a request that are passed on, in each form. Any other one is refused by its name: what a
// provider adds may fetch, search, store, choose another model or cost more, and one that is left out in silence would
// change what the agent asked for.
var fields = map[wire.Form]names{
	wire.Chat: list("model messages max_tokens max_completion_tokens n stream stream_options tools tool_choice" +
		" parallel_tool_calls functions function_call temperature top_p top_k min_p frequency_penalty presence_penalty" +
		" repetition_penalty seed stop logit_bias logprobs top_logprobs response_format reasoning_effort reasoning" +
		" include_reasoning verbosity thinking enable_thinking preserve_thinking thinking_budget chat_template_kwargs" +
		" usage store metadata user safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options" +
		" vl_high_resolution_images tool_stream modalities service_tier"),
	wire.Responses: list("model input instructions max_output_tokens max_tool_calls stream stream_options tools" +
		" tool_choice parallel_tool_calls temperature top_p top_logprobs reasoning text store include truncation" +
		" metadata client_metadata user safety_identifier prompt_cache_key prompt_cache_retention" +
		" prompt_cache_options service_tier"),
	wire.Messages: list("model messages system max_tokens stream tools tool_choice temperature top_p top_k" +
		" stop_sequences metadata thinking output_config output_format context_management cache_control diagnostics" +
		" service_tier speed"),
	wire.Gemini: list("model contents systemInstruction tools toolConfig generationConfig safetySettings labels" +
		" serviceTier generateContentRequest"),
}

// parts are the types of what a conversation is made of, in each form: none of them reaches anything, as long as what
// it is about is in the request itself. In Gemini they are members.
var parts = map[wire.Form]names{
	wire.Chat: list("text refusal image_url video_url file thinking reasoning"),
	wire.Responses: list("message reasoning agent_message function_call function_call_output custom_tool_call" +
		" custom_tool_call_output local_shell_call local_shell_call_output shell_call shell_call_output" +
		" apply_patch_call apply_patch_call_output computer_call computer_call_output tool_search_call" +
		" tool_search_output web_search_call additional_tools compaction compaction_trigger context_compaction" +
		" text input_text output_text refusal summary_text reasoning_text encrypted_content input_image input_file" +
		" computer_screenshot"),
	wire.Messages: list("message text image document base64 content thinking redacted_thinking connector_text tool_use" +
		" tool_result tool_reference tool_addition tool_removal tool_definition compaction"),
	wire.Gemini: list("role parts text thought thoughtSignature inlineData functionCall functionResponse" +
		" videoMetadata mediaResolution partMetadata"),
}

var (
	// settings are those of Gemini's generationConfig.
	settings = list("maxOutputTokens candidateCount temperature topP topK seed stopSequences responseMimeType" +
		" responseSchema responseJsonSchema thinkingConfig presencePenalty frequencyPenalty responseLogprobs logprobs" +
		" mediaResolution responseModalities")
	// reaching are the members by which a provider reaches other places, for whom that is granted (Hosted).
	reaching = list("mcp_servers container web_search_options search_parameters enable_search search_options plugins")
	// usual are the values of members that choose how an answer is made, as far as they cost no more than is reckoned
	// with.
	usual = list("auto default standard standard_only flex text")
	// addresses are where a part says what it is about, and holders what has parts in it.
	addresses = list("url image_url file_url video_url file_data")
	holders   = list("content output parts source file tool thinking image_url video_url")
	// spoken are the members that hold what somebody said, ran or was told, which may name any address.
	spoken = list("content output thinking text title context summary refusal reasoning reasoning_content" +
		" reasoning_details thinking_blocks signature thought_signature encrypted_content data arguments args input" +
		" action operation query queries tool_calls function_call custom function stdout stderr")
)

// names are plain names.
type names map[string]bool

func list(of string) names {
	out := names{}
	for _, n := range strings.Fields(of) {
		out[plain(n)] = true
	}
	return out
}

// plain is a name as the loosest reader takes it: without its case, and without the underscores that some may leave
// out.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// inspect reads the facts. A request that has two members of the same plain name says different things to different
// readers, and is refused. One that only has its tokens counted is read the same way: a provider fetches for that, too.
func inspect(t target, body []byte) (facts, error) {
	f := facts{model: t.Model, in: tokens(body), answers: 1}
	v, err := strictjson.Parse(body, strictjson.Options{Repeats: true, HalfPairs: true})
	if err != nil {
		return f, fmt.Errorf("the request is no JSON: %w", err)
	}
	counts := t.Form == wire.Free
	if counts {
		t.Form = t.Kind.Form("")
	}
	err = f.read(t, v)
	switch {
	case err != nil:
	case f.model == "" && !counts:
		err = errors.New("the request names no model")
	case !t.Hosted && searching().MatchString(f.model):
		err = fmt.Errorf("the model %q %w", f.model, errHidden)
	}
	return f, err
}

// searching fits the names of models that search the internet by themselves.
var searching = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i):online\b|search-(preview|api)|deep-research|\bsonar\b|\bcompound\b`)
})

// read reads the members of a request, and refuses those that are not known.
func (f *facts) read(t target, v strictjson.Value) error {
	return members(v, func(name string, value strictjson.Value) error {
		if !fields[t.Form][name] && !(t.Hosted && reaching[name]) {
			return unknown(name, value)
		}
		switch name {
		case "model":
			if f.model = cmp.Or(t.Model, value.Text()); f.model == "" {
				return errors.New("the model is no name")
			}
		case "maxtokens", "maxcompletiontokens", "maxoutputtokens":
			return most(&f.out, value.Raw())
		case "n":
			return most(&f.answers, value.Raw())
		case "servicetier", "speed", "modalities":
			return usually(name, value)
		case "generationconfig":
			return members(value, f.setting)
		case "contextmanagement":
			return members(value, clears)
		case "generatecontentrequest":
			return f.read(t, value)
		case "messages", "input", "instructions", "contents", "system", "systeminstruction":
			return f.inline(t, value)
		case "tools", "functions":
			return f.offered(t, value)
		}
		return nil
	})
}

// setting reads a member of Gemini's generationConfig.
func (f *facts) setting(name string, value strictjson.Value) error {
	switch {
	case !settings[name]:
		return unknown(name, value)
	case name == "maxoutputtokens":
		return most(&f.out, value.Raw())
	case name == "candidatecount":
		return most(&f.answers, value.Raw())
	case name == "responsemodalities":
		return usually(name, value)
	}
	return nil
}

// clears reads a member of Anthropic's context_management, which may leave parts of the conversation out. To have it
// summed up is a call of a model that the figures of the answer leave out.
func clears(_ string, edits strictjson.Value) error {
	for _, edit := range edits.Items() {
		err := members(edit, func(name string, value strictjson.Value) error {
			if name != "type" || strings.HasPrefix(value.Text(), "clear_") {
				return nil
			}
			return unknown(value.Text(), value)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unknown refuses a member that is not known, unless it asks for nothing. An empty object can be all that it takes to
// switch something on.
func unknown(name string, value strictjson.Value) error {
	if empty(value.Raw()) && value.Kind() != strictjson.Object {
		return nil
	}
	return fmt.Errorf("%q %w", name, errHidden)
}

// usually refuses a value that is none of the usual ones.
func usually(name string, value strictjson.Value) error {
	if usual[strings.Trim(plain(string(value.Raw())), "[]\" ")] {
		return nil
	}
	return unknown(name, value)
}

// offered takes a list of tools.
func (f *facts) offered(t target, value strictjson.Value) error {
	f.tools = f.tools || !empty(value.Raw())
	if t.Hosted {
		return nil
	}
	return hosted(t.Form, value, 0)
}

// inline refuses what stands in a conversation and is not in the request itself: an address, which the provider would
// fetch, and what is stored at the provider. What tools are called with and what they return is not looked into.
// Newer models are offered tools there as well.
func (f *facts) inline(t target, v strictjson.Value) error {
	for _, item := range v.Items() {
		if err := f.inline(t, item); err != nil {
			return err
		}
	}
	if v.Kind() != strictjson.Object {
		return nil
	}
	return members(v, func(name string, value strictjson.Value) error {
		switch {
		case name == "tools":
			return f.offered(t, value)
		case t.Hosted:
			return nil
		case name == "definition":
			return hostedTool(t.Form, value, 0)
		case t.Form == wire.Gemini && !parts[t.Form][name], name == "fileid":
			return unknown(name, value)
		case name == "type" && t.Form != wire.Gemini && !parts[t.Form][plain(value.Text())]:
			return fmt.Errorf("a part of type %s %w", value.Raw(), errHidden)
		case name == "functionresponse":
			return members(value, func(name string, value strictjson.Value) error {
				if name != "parts" {
					return nil
				}
				return f.inline(t, value)
			})
		case nested(name, value):
			return f.inline(t, value)
		case addresses[name], !spoken[name]:
			if leadsOut(value, addresses[name]) {
				return unknown(name, value)
			}
		}
		return nil
	})
}

// nested reports whether a member holds parts of its own. An address may be an object, and is no list.
func nested(name string, value strictjson.Value) bool {
	return value.Kind() == strictjson.Object && (addresses[name] || holders[name]) ||
		value.Kind() == strictjson.Array && holders[name] && !addresses[name]
}

// leadsOut reports whether a value names a place that is not in the request. What stands for an address (address) does,
// unless it is data.
func leadsOut(v strictjson.Value, address bool) bool {
	out := v.Kind() == strictjson.String && !strings.HasPrefix(v.Text(), "data:") &&
		(address || strings.Contains(v.Text(), "://"))
	for _, item := range v.Items() {
		out = out || leadsOut(item, address)
	}
	if v.Kind() == strictjson.Object {
		for m := range v.Members() {
			out = out || leadsOut(m.Value, address)
		}
	}
	return out
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

// Tools that the agent runs itself, in each form: local are their exact types, with zeros for a date, and toolMembers
// the members that they and what they hold may have besides.
var (
	local = map[wire.Form]names{
		wire.Chat:      list("function custom"),
		wire.Responses: list("function custom namespace local_shell apply_patch computer"),
		wire.Messages: list("custom bash_00000000 memory_00000000 text_editor_00000000 computer_00000000" +
			" tool_search_tool_bm25_00000000 tool_search_tool_regex_00000000"),
	}
	toolMembers = map[wire.Form]names{
		wire.Chat: list("function custom name description parameters strict format cache_control"),
		wire.Responses: list("name description parameters strict format tools defer_loading output_schema filters" +
			" user_location search_context_size search_content_types"),
		wire.Messages: list("name description input_schema cache_control defer_loading strict input_examples" +
			" eager_input_streaming max_characters display_width_px display_height_px display_number enable_zoom"),
		wire.Gemini: list("functionDeclarations name description behavior parameters parametersJsonSchema response" +
			" responseJsonSchema computerUse environment excludedPredefinedFunctions"),
	}
)

// dated fits the date at the end of a name.
var dated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d{4}-?\d\d-?\d\d$`) })

// maxDepth is how deep tools may lie in tools; one form has one such level.
const maxDepth = 2

// hosted refuses every tool that is not known to be run by the agent itself: the provider would run it, and reach
// places of the agent's choice.
func hosted(form wire.Form, tools strictjson.Value, depth int) error {
	switch {
	case empty(tools.Raw()):
		return nil
	case depth > maxDepth:
		return errors.New("the tools lie too deep")
	case tools.Kind() != strictjson.Array:
		return errors.New("the tools are no list")
	}
	for _, tool := range tools.Items() {
		if err := hostedTool(form, tool, depth); err != nil {
			return err
		}
	}
	return nil
}

func hostedTool(form wire.Form, tool strictjson.Value, depth int) error {
	kind, inside := "", false
	err := members(tool, func(name string, value strictjson.Value) error {
		switch {
		case name == "type" && form != wire.Gemini: // there each member is a type
			return json.Unmarshal(value.Raw(), &kind)
		case !toolMembers[form][name]:
			// A search that is told to stay in what the provider knows reaches nothing.
			inside = inside || name == "externalwebaccess" && value.Kind() == strictjson.False
			return unknown(name, value)
		case name == "tools", name == "functiondeclarations":
			return hosted(form, value, depth+1)
		case name == "function", name == "custom", name == "computeruse":
			return hostedTool(form, value, depth+1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	own := kind == "" || local[form][plain(dated().ReplaceAllString(kind, "00000000"))]
	if !own && !(inside && kind == "web_search") {
		return fmt.Errorf("a tool of type %q %w", kind, errHidden)
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
func members(v strictjson.Value, see func(name string, value strictjson.Value) error) error {
	if v.Kind() != strictjson.Object {
		return errors.New("the request is no JSON object")
	}
	seen := map[string]bool{}
	for m := range v.Members() {
		name := plain(m.Name)
		if seen[name] {
			return fmt.Errorf("the request has more than one %q", name)
		}
		seen[name] = true
		if err := see(name, m.Value); err != nil {
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

package llm

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"

	"go.yaml.in/yaml/v4"

	"pawl"
	"pawl/kernel/effect"
)

// Price is what a model costs, in millionths of a US dollar for a thousand tokens: a thousand of them are one US dollar
// for a million tokens. Cached is the price of tokens that the provider had in its cache, Written that of those it put
// there.
type Price struct{ In, Cached, Written, Out int64 }

// prices are list prices of well-known models, by the beginning of their names. They are a convenience that grows old:
// a file of the user's overrides them.
var prices = map[string]Price{
	"gpt-5":             {In: 1250, Cached: 125, Out: 10000},
	"gpt-5-mini":        {In: 250, Cached: 25, Out: 2000},
	"gpt-5-nano":        {In: 50, Cached: 5, Out: 400},
	"gpt-5-pro":         {In: 15000, Cached: 15000, Out: 120000},
	"gpt-4.1":           {In: 2000, Cached: 500, Out: 8000},
	"gpt-4.1-mini":      {In: 400, Cached: 100, Out: 1600},
	"gpt-4o":            {In: 2500, Cached: 1250, Out: 10000},
	"gpt-4o-mini":       {In: 150, Cached: 75, Out: 600},
	"claude-opus-4":     {In: 15000, Cached: 1500, Written: 18750, Out: 75000},
	"claude-sonnet-4":   {In: 3000, Cached: 300, Written: 3750, Out: 15000},
	"claude-haiku-4":    {In: 1000, Cached: 100, Written: 1250, Out: 5000},
	"gemini-2.5-pro":    {In: 2500, Cached: 250, Out: 15000},
	"gemini-2.5-flash":  {In: 300, Cached: 30, Out: 2500},
	"deepseek-chat":     {In: 280, Cached: 28, Out: 420},
	"deepseek-reasoner": {In: 280, Cached: 28, Out: 420},
}

// longest returns the value of the longest name that a model's begins with. Names of routers, as in
// "anthropic/claude-…", count by their last part.
func longest[V any](table map[string]V, model string) (v V, ok bool) {
	name, best := model[strings.LastIndexByte(model, '/')+1:], -1
	for prefix, value := range table {
		if strings.HasPrefix(name, prefix) && len(prefix) > best {
			v, best, ok = value, len(prefix), true
		}
	}
	return v, ok
}

// KnownPrice returns the built-in price of a model.
func KnownPrice(model string) (Price, bool) { return longest(prices, model) }

// maxPrices bounds a file of prices, in bytes.
const maxPrices = 256 << 10

// ParsePrices reads a file of prices: a YAML map from the beginning of a model's name to in, cached, written and out,
// in US dollars for a million tokens. What cached and written leave out costs as much as in. Unknown and repeated
// fields, numbers below 0 and a second document are refused as CodeInvalid.
func ParsePrices(name string, raw []byte) (map[string]Price, error) {
	bad := func(err error) error {
		return pawl.Fail(pawl.CodeInvalid, "llm.prices", name).Because(err).In("llm.ParsePrices")
	}
	var file map[string]struct {
		In      *float64 `yaml:"in"`
		Cached  *float64 `yaml:"cached"`
		Written *float64 `yaml:"written"`
		Out     *float64 `yaml:"out"`
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, bad(err)
	}
	if err := d.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return nil, bad(errors.New("more than one document"))
	}
	out := map[string]Price{}
	for model, p := range file {
		if p.In == nil || p.Out == nil {
			return nil, bad(errors.New(model + ": in and out are needed"))
		}
		for _, v := range []*float64{p.In, p.Cached, p.Written, p.Out} {
			if v != nil && (math.IsNaN(*v) || *v < 0 || *v > 1e6) {
				return nil, bad(errors.New(model +
					": a price is between 0 and 1000000 US dollars for a million tokens"))
			}
		}
		at := func(v *float64) int64 {
			if v == nil {
				v = p.In
			}
			// A price of less than a thousandth of a dollar is rounded up: no model is free by rounding.
			return int64(math.Ceil(*v*1000 - 1e-6))
		}
		out[model] = Price{In: at(p.In), Cached: at(p.Cached), Written: at(p.Written), Out: at(p.Out)}
	}
	return out, nil
}

// of adds the money to a cost, rounded up; written are those of its tokens that went into the provider's cache.
func (p Price) of(u effect.Usage, written int64, known bool) effect.Usage {
	if !known {
		u.Unpriced = u.InTokens > 0 || u.OutTokens > 0
		return u
	}
	written = min(written, u.InTokens-u.CachedTokens)
	sum := (u.InTokens-u.CachedTokens)*p.In + u.CachedTokens*p.Cached + u.OutTokens*p.Out +
		written*max(p.Written-p.In, 0)
	u.MicroUSD = (sum + 999) / 1000
	return u
}

// windows are the sizes of the contexts of well-known models, in tokens, by the beginning of their names.
var windows = map[string]int64{
	"gpt-5": 272_000, "gpt-4.1": 1_000_000, "gpt-4o": 128_000, "o3": 200_000, "o4": 200_000,
	"claude-": 200_000, "gemini-": 1_000_000, "deepseek-": 128_000, "qwen3-coder": 256_000, "mistral-": 128_000,
	"codestral": 256_000,
}

// unknownWindow is taken for the context of a model of which nothing is known.
const unknownWindow = 128_000

// KnownWindow returns the size of a model's context, as far as it is known.
func KnownWindow(model string) (int64, bool) { return longest(windows, model) }

// window is the size of a model's context.
func (a *Agent) window(model string) int64 {
	if a.config.Window > 0 {
		return a.config.Window
	}
	if n, ok := KnownWindow(model); ok {
		return n
	}
	return unknownWindow
}

// room is the size of an answer: a quarter of a small window at most.
func (a *Agent) room(model string) int64 { return min(a.config.MaxOut, max(a.window(model)/4, 1)) }

// tokens estimates the tokens of a text from above: three bytes of ASCII each, and one and a half for every other rune.
func tokens(text string) int64 {
	ascii, other := 0, 0
	for _, r := range text {
		if r < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return int64(ascii+2)/3 + int64(other*3+1)/2
}

// estimate estimates the tokens of a request.
func estimate(r Request) int64 {
	n := tokens(r.System) + tokens(string(r.Schema)) + 16
	for _, m := range r.Messages {
		n += tokens(m.Text) + 8
		if len(m.Opaque) > 0 {
			n += tokens(string(m.Opaque))
			continue
		}
		for _, c := range m.Calls {
			n += tokens(string(c.Args)) + tokens(c.Name) + tokens(string(c.Opaque)) + 8
		}
	}
	for _, t := range r.Tools {
		n += tokens(t.Description) + tokens(string(t.Schema)) + tokens(t.Name) + 8
	}
	return n
}

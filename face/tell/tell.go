// Package tell has people told what waits for them, by the channels of the settings.
package tell

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"pawl/driver/notify"
	"pawl/driver/outbox"
	"pawl/face/cli/settings"
	"pawl/face/host"
	"pawl/face/serve"
	"pawl/kernel/effect"
	"pawl/kernel/notices"
	"pawl/kernel/query"
	"pawl/sandbox/withheld"
	"pawl/store/presence"
)

// People lets a workspace tell people what waits for them, by the channels of which nothing is wrong, from when that is
// started until the workspace is closed; and says until then that a person looks, where one does.
func People(w *host.Workspace, dir string, o host.Open) {
	ways := map[string]notify.Channel{}
	out := outbox.Options{Kernel: w.Kernel, Feed: w.Feed, Dir: dir, Project: filepath.Base(w.Place.Workspace),
		Sender: &notify.Driver{Channels: ways, Now: time.Now}, Hold: o.Config.Looking, Lang: o.Lang,
		Owner: w.Name(),
		Pages: func() string { at, _ := serve.Running(dir); return at.Pages },
		Hide:  func(text string) string { return (&withheld.Values{}).Of(w.Place.Workspace).Text(text) }}
	for _, name := range slices.Sorted(maps.Keys(o.Config.Notices)) {
		n := o.Config.Notices[name]
		c := notify.Channel{Name: name, Kind: n.Kind, URL: n.URL, Secret: n.Secret, User: n.User, From: n.From,
			To: n.To}
		ways[name] = c
		w.Notices.Channels = append(w.Notices.Channels, host.Channel{Name: name, Kind: n.Kind, Place: n.URL,
			Rules: n.Rules, Flaw: c.Check()})
		if c.Check() == nil {
			out.Channels = append(out.Channels, outbox.Channel{Channel: c, Rules: rules(n.Rules, o.Config)})
		}
	}
	box := outbox.New(out)
	w.Notices.Test = box.Test
	w.Notices.Look = func() func() { return presence.Look(dir) }
	started := func() {}
	w.Notices.Start = sync.OnceFunc(func() { started = box.Start() })
	unlook, end := func() {}, w.Close
	if o.Looks && !o.ReadOnly {
		unlook = presence.Look(dir)
	}
	w.Close = func() error {
		unlook()
		started()
		return end()
	}
}

// Undelivered says how many messages did not arrive, where there are channels. What cannot be read is none.
func Undelivered(ctx context.Context, w *host.Workspace) []host.Finding {
	if len(w.Notices.Channels) == 0 {
		return nil
	}
	n, err := query.NoticesOf(w.Kernel).Undelivered(ctx)
	if err != nil || n == 0 {
		return nil
	}
	return []host.Finding{{Name: "notify", State: "warn", Key: "notify.undelivered", Args: []string{strconv.Itoa(n)}}}
}

// rules are those of a channel, without the topics of which nobody is told.
func rules(texts []string, c settings.Config) (out []notices.Rule) {
	for _, text := range texts {
		if r, err := notices.ParseRule(text); err == nil { // which the settings have looked at
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		out = notices.Usual()
	}
	for i := range out {
		out[i].Topics = slices.DeleteFunc(out[i].Topics, func(t effect.Topic) bool {
			return slices.Contains(c.Quiet, string(t))
		})
	}
	return out
}

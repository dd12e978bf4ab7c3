package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"pawl/kernel"
	"pawl/kernel/issues"
)

// The rates at which cards change, in commits a second, for how long, and how long a change may take to be seen.
var liveRates = []int{50, 1000}

const (
	liveSpan   = 5 * time.Second
	liveRounds = 3
	liveMost   = 20 * time.Millisecond
)

// watching has a page note when it shows which change of each card: the number of the card, that of the change and the
// instant, in milliseconds.
const watching = `(() => {
	const last = new Map(); window.noted = [];
	const look = () => {
		const at = performance.timeOrigin + performance.now();
		for (const p of document.querySelectorAll('.issue > p')) {
			const [, card, change] = (/#(\d+)#(\d+)#/).exec(p.textContent) || [];
			if (card && last.get(card) !== change) { last.set(card, change); noted.push([Number(card), Number(change), at]); }
		}
	};
	look(); noted.length = 0;
	new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});
	return true;
})()`

// polling is a page that fetches itself every 100 ms, as pages of the peers do.
const polling = `(() => {
	const policy = trustedTypes.createPolicy('pawl', {createHTML: (s) => s});
	let busy = false;
	setInterval(async () => {
		if (busy) return;
		busy = true;
		const answer = await fetch(location.href, {headers: {'Pawl-Live': '1'}, cache: 'no-store'});
		const page = new DOMParser().parseFromString(policy.createHTML(await answer.text()), 'text/html');
		document.getElementById('main').replaceWith(page.getElementById('main'));
		busy = false;
	}, 100);
	return true;
})()`

// soakRate is how many cards are changed a second while it is looked whether anything grows.
const soakRate = 200

// benchLive measures from the acknowledged commit of this process to the changed page in Chromium, which the server's
// process told of it, beside a page that polls; and how long lists take to be painted.
func benchLive(ctx context.Context, s *settings, w *served, emit func(Result)) error {
	if _, err := exec.LookPath("chromium"); err != nil {
		s.say("left out: chromium is missing, which scripts/setup.sh browser installs")
		return nil
	}
	ctx, cancel := chromedp.NewExecAllocator(ctx, append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.NoSandbox, chromedp.UserDataDir(s.dir+"/chromium"))...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	in, err := w.enter(ctx)
	if err != nil {
		return err
	}
	if err := chromedp.Run(ctx, chromedp.Navigate(in.URL), chromedp.WaitVisible("h1.answer")); err != nil {
		return err
	}
	least, err := w.painted(ctx, emit)
	if err != nil {
		return err
	}
	if err := w.followed(ctx, least, emit); err != nil {
		return err
	}
	board := w.at.Pages + "board"
	for _, rate := range liveRates {
		var own, polled []float64
		reached := 0.0
		for range liveRounds {
			if err := chromedp.Run(ctx, emulation.SetScriptExecutionDisabled(false), chromedp.Navigate(board),
				chromedp.WaitVisible("body.live"), chromedp.Evaluate(watching, nil)); err != nil {
				return err
			}
			times, got, err := w.change(ctx, rate, liveSpan)
			if err != nil {
				return err
			}
			own, reached = append(own, times...), max(reached, got)
			if err := chromedp.Run(ctx, emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(board),
				emulation.SetScriptExecutionDisabled(false), chromedp.Evaluate(polling, nil),
				chromedp.Evaluate(watching, nil)); err != nil {
				return err
			}
			if times, _, err = w.change(ctx, rate, liveSpan); err != nil {
				return err
			}
			polled = append(polled, times...)
		}
		mine, yard := quantile(own, 0.95), quantile(polled, 0.95)
		name := fmt.Sprintf("commit to page, %s a second", grouped(float64(rate)))
		emit(Result{Case: name, Pawl: tookNanos(mine), Beside: tookNanos(yard), Yardstick: "a page that polls every 100 ms",
			Score: mine / 1e6, Unit: "ms", Goal: float64(liveMost.Milliseconds()), AtMost: true,
			Note: fmt.Sprintf("p95; p50 %s, polled %s; %d changes, %s a second committed", short(median(own)),
				short(median(polled)), len(own), grouped(reached))})
		emit(Result{Case: name + ", beside polling", Pawl: tookNanos(mine), Beside: tookNanos(yard),
			Yardstick: "a page that polls every 100 ms", Score: yard / mine, Unit: "×", NoGoal: true})
	}
	return w.soak(ctx, s, board, emit)
}

// held is what a page and its server hold on to, memory in units of 1,024 bytes.
type held struct{ nodes, listeners, heap, server int64 }

// holding is what they hold once what is no longer needed is gone.
func (w *served) holding(ctx context.Context) (h held, err error) {
	err = chromedp.Run(ctx, chromedp.Evaluate(`noted.length = 0`, nil), chromedp.ActionFunc(func(ctx context.Context) error {
		if err := heapprofiler.CollectGarbage().Do(ctx); err != nil {
			return err
		}
		_, h.nodes, h.listeners, err = memory.GetDOMCounters().Do(ctx)
		if err != nil {
			return err
		}
		used, _, _, _, err := runtime.GetHeapUsage().Do(ctx)
		h.heap = int64(used) >> 10
		return err
	}))
	_, h.server = processOf(w.at.PID)
	h.server >>= 10
	return h, err
}

// soak has cards changed for as long as -soak says, and looks whether the page or its server grows: from the end of
// the first tenth of that time to the end of all of it.
func (w *served) soak(ctx context.Context, s *settings, board string, emit func(Result)) error {
	if err := chromedp.Run(ctx, chromedp.Navigate(board), chromedp.WaitVisible("body.live"),
		chromedp.Evaluate(watching, nil)); err != nil {
		return err
	}
	if _, _, err := w.change(ctx, soakRate, s.soak/10); err != nil {
		return err
	}
	before, err := w.holding(ctx)
	if err != nil {
		return err
	}
	times, reached, err := w.change(ctx, soakRate, s.soak-s.soak/10)
	if err != nil {
		return err
	}
	after, err := w.holding(ctx)
	if err != nil {
		return err
	}
	note := fmt.Sprintf("after %d changes, %s a second", len(times), grouped(reached))
	for _, of := range []struct {
		name, unit    string
		before, after int64
		most          float64
	}{
		{"nodes of the page", "nodes", before.nodes, after.nodes, 1.05},
		{"listeners of the page", "listeners", before.listeners, after.listeners, 1.05},
		{"memory of its script", "KiB", before.heap, after.heap, 1.25},
		{"memory of its server", "KiB", before.server, after.server, 1.25},
	} {
		emit(Result{Case: fmt.Sprintf("%s after %s at %d a second", of.name, s.soak, soakRate),
			Pawl: count(float64(of.after), of.unit), Beside: count(float64(of.before), of.unit),
			Yardstick: "after a tenth of that", Score: float64(of.after) / float64(max(of.before, 1)), Unit: "×",
			Goal: of.most, AtMost: true, Note: note})
	}
	return nil
}

// awaiting has the value of a promise waited for.
func awaiting(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// committed is a change of a card that was acknowledged.
type committed struct {
	card, change int
	at           time.Time
}

// change changes cards at a rate, and returns how long each change took from its acknowledgement until it, or a later one
// of the same card, was seen, and how many were committed a second.
func (w *served) change(ctx context.Context, rate int, span time.Duration) (times []float64, reached float64, err error) {
	callers := min(pageIssues, max(4, rate/25))
	var mu sync.Mutex
	var all []committed
	var wait sync.WaitGroup
	var failed error
	ids, err := w.cards(ctx)
	if err != nil {
		return nil, 0, err
	}
	begun := time.Now()
	for c := range callers {
		wait.Go(func() {
			pace := time.NewTicker(time.Duration(callers) * time.Second / time.Duration(rate))
			defer pace.Stop()
			for n := 0; time.Since(begun) < span; n++ {
				card := (c + n*callers) % pageIssues
				w.changes.Lock()
				w.changed++
				change := w.changed
				w.changes.Unlock()
				title := fmt.Sprintf("Issue #%d#%d#", card, change)
				_, err := w.kernel.Do(ctx, kernel.Envelope{Actor: "user:bench",
					Command: &issues.EditIssue{Issue: ids[card], Title: &title}})
				mu.Lock()
				all, failed = append(all, committed{card, change, time.Now()}), errors.Join(failed, err)
				mu.Unlock()
				if err != nil {
					return
				}
				<-pace.C
			}
		})
	}
	wait.Wait()
	reached = float64(len(all)) / time.Since(begun).Seconds()
	if failed != nil {
		return nil, 0, failed
	}
	if err := rest(ctx, 3*time.Second); err != nil {
		return nil, 0, err
	}
	var noted [][3]float64
	if err := chromedp.Run(ctx, chromedp.Evaluate(`noted`, &noted)); err != nil {
		return nil, 0, err
	}
	// Callers of the same card change it one after the other, so that a later number was committed later.
	for _, c := range all {
		seen := slices.IndexFunc(noted, func(n [3]float64) bool { return int(n[0]) == c.card && int(n[1]) >= c.change })
		if seen < 0 {
			return nil, 0, fmt.Errorf("change %d of card %d was never shown", c.change, c.card)
		}
		took := noted[seen][2]*1e6 - float64(c.at.UnixNano())
		times = append(times, max(took, 0)) // another process may see a commit before its own is told
	}
	return times, reached, nil
}

// cards are the ids of the issues on the board.
func (w *served) cards(ctx context.Context) (ids []string, err error) {
	for row, err := range w.store.Scan(ctx, kernel.Select{Kind: kernel.KindIssue, HotOnly: true}) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, row.ID)
	}
	if len(ids) != pageIssues {
		return nil, fmt.Errorf("%d issues", len(ids))
	}
	return ids, nil
}

// firstPaint is when something with content was painted, in milliseconds after the navigation began.
const firstPaint = `new Promise((done) => {
	const look = () => {
		const [paint] = performance.getEntriesByName('first-contentful-paint');
		paint ? done(paint.startTime) : requestAnimationFrame(look);
	};
	look();
})`

// gone follows a link within the pages, and is when the heading of the page that it leads to was shown on the screen, in
// milliseconds after the click.
const gone = `new Promise((done) => {
	const link = document.createElement('a');
	link.href = %q;
	document.getElementById('main').append(link);
	let begun = 0;
	navigation.addEventListener('navigatesuccess', () => {
		new PerformanceObserver((list) => done(list.getEntries()[0].renderTime - begun)).observe({type: 'element'});
		document.querySelector('h1').setAttribute('elementtiming', 'h1');
	}, {once: true});
	begun = performance.now();
	link.click();
})`

// followed measures from a click on a link to the screen, for each list, coming from the page of what needs a person;
// least is what going to a page of one word takes.
func (w *served) followed(ctx context.Context, least Figure, emit func(Result)) error {
	if err := chromedp.Run(ctx, chromedp.Navigate(w.at.Pages), chromedp.WaitVisible("body.live")); err != nil {
		return err
	}
	for _, p := range pagePaths {
		var times []float64
		for n := range 11 {
			var home, took float64
			if err := chromedp.Run(ctx, chromedp.Evaluate(fmt.Sprintf(gone, "/"), &home, awaiting),
				chromedp.Evaluate(fmt.Sprintf(gone, p.path), &took, awaiting)); err != nil {
				return err
			}
			if n > 0 { // the first one warms the caches
				times = append(times, took*1e6)
			}
		}
		emit(Result{Case: "followed to " + p.path, Pawl: tookNanos(median(times)), Beside: least,
			Yardstick: "going to a page of one word", Score: median(times) / 1e6, Unit: "ms",
			Goal: float64(paintMost.Milliseconds()), AtMost: true,
			Note: fmt.Sprintf("from the click on a link to the screen, p95 %s", short(quantile(times, 0.95)))})
	}
	return nil
}

// painted measures from the beginning of the navigation to a list until something of it was painted, beside a page of
// one word, which is the least that a navigation takes in this browser on this machine. That page is of another site,
// to which a browser changes processes: so it is not measured in turns with the lists, but before them.
func (w *served) painted(ctx context.Context, emit func(Result)) (least Figure, err error) {
	bare := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(rw, "<!doctype html><title>One word</title><p>word") // who has gone needs nothing
	}))
	defer bare.Close()
	words, _, err := paintsOf(ctx, bare.URL)
	if err != nil {
		return least, err
	}
	least = tookNanos(median(words))
	longest := 0
	for _, p := range pagePaths {
		times, rows, err := paintsOf(ctx, w.at.Pages+p.path[1:])
		if err != nil {
			return least, err
		}
		longest = max(longest, rows)
		emit(Result{Case: "painted " + p.path, Pawl: tookNanos(median(times)), Beside: least,
			Yardstick: "a page of one word", Score: median(times) / 1e6, Unit: "ms",
			Goal: float64(paintMost.Milliseconds()), AtMost: true,
			Note: fmt.Sprintf("from the navigation to the first paint with content, p95 %s; %d rows",
				short(quantile(times, 0.95)), rows)})
	}
	emit(Result{Case: "rows of the longest of these pages", Pawl: count(float64(longest), "rows"), Score: float64(longest),
		Unit: "", Goal: 300, AtMost: true, Note: grouped(pageTasks) + " tasks"})
	return least, nil
}

// paintsOf goes to a page again and again, and returns how long each first paint took and how many rows there are.
func paintsOf(ctx context.Context, url string) (times []float64, rows int, err error) {
	for n := range 11 {
		var took float64
		if err := chromedp.Run(ctx, chromedp.Navigate(url), chromedp.Evaluate(firstPaint, &took, awaiting),
			chromedp.Evaluate(`document.querySelectorAll('[data-row]').length`, &rows)); err != nil {
			return nil, 0, err
		}
		if n > 0 { // the first one warms the caches
			times = append(times, took*1e6)
		}
	}
	return times, rows, nil
}

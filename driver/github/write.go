package github

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pawl"
)

// maxComment is GitHub's limit for the text of a comment, in bytes on the safe side.
const maxComment = 60_000

var markForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9:._/]{1,100}$`) })

// Comment writes a comment under an issue, with a mark in it that is not shown. It is made at most once: where it is
// not known what became of it, the error has CodeOutcomeUnknown, and Commented tells. Nothing else of this package
// writes comments.
func (c *Client) Comment(ctx context.Context, r Repo, number int, mark, text string) error {
	if !markForm().MatchString(mark) || strings.TrimSpace(text) == "" || len(text) > maxComment {
		return pawl.Fail(pawl.CodeInvalid, "github.comment", len(text), maxComment).In("github.Comment")
	}
	return c.write(ctx, r, number, "/comments", map[string]any{"body": text + "\n\n" + marked(mark)}, true)
}

func marked(mark string) string { return "<!-- pawl " + mark + " -->" }

// Commented reports whether a comment with the mark stands under the issue.
func (c *Client) Commented(ctx context.Context, r Repo, number int, mark string) (bool, error) {
	work, err := c.begin()
	if err != nil {
		return false, err
	}
	address := repoURL(work.api, r) + "/issues/" + strconv.Itoa(number) + "/comments?per_page=100"
	for n := 0; address != ""; n++ {
		if n == maxPages {
			return false, pawl.Fail(pawl.CodeIO, "github.endless", r.String(), n).In("github.Commented")
		}
		p, _, err := work.page(ctx, address, '[')
		if err != nil {
			return false, err
		}
		var comments []struct {
			Body string `json:"body"`
		}
		if err := json.Unmarshal(p.Body, &comments); err != nil {
			return false, pawl.Fail(pawl.CodeIO, "github.malformed", shown(address)).Because(err).In("github.Commented")
		}
		for _, one := range comments {
			if strings.Contains(one.Body, marked(mark)) {
				return true, nil
			}
		}
		address = p.Next
	}
	return false, nil
}

// Label adds labels to an issue. Those that it has stay, and adding one twice changes nothing.
func (c *Client) Label(ctx context.Context, r Repo, number int, labels ...string) error {
	if len(labels) == 0 || slices.ContainsFunc(labels, func(s string) bool {
		return strings.TrimSpace(s) == "" ||
			len(s) > 100
	}) {
		return pawl.Fail(pawl.CodeInvalid, "github.label").In("github.Label")
	}
	return c.write(ctx, r, number, "/labels", map[string]any{"labels": labels}, false)
}

func (c *Client) write(ctx context.Context, r Repo, number int, below string, body any, once bool) error {
	work, err := c.begin()
	if err != nil {
		return err
	}
	if c.Token != nil {
		token, err := c.Token()
		if err != nil {
			return err
		}
		if token == "" {
			return pawl.Fail(pawl.CodeLogin, "github.token_needed", work.api.Host).In("github.Write")
		}
	} else {
		return pawl.Fail(pawl.CodeLogin, "github.token_needed", work.api.Host).In("github.Write")
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return pawl.Fail(pawl.CodeInternal, "github.comment", 0, maxComment).Because(err).In("github.Write")
	}
	_, err = work.do(ctx, request{method: http.MethodPost, url: repoURL(work.api, r) + "/issues/" +
		strconv.Itoa(number) + below, body: raw, once: once})
	return err
}

package forge

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/go-github/v89/github"

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
		return pawl.Fail(pawl.CodeInvalid, "forge.comment", len(text), maxComment).In("forge.Comment")
	}
	return c.writing(ctx, func(ctx context.Context, gh *github.Client) error {
		body := text + "\n\n" + marked(mark)
		_, _, err := gh.Issues.CreateComment(ctx, r.Owner, r.Name, number, &github.IssueComment{Body: &body})
		return err
	})
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
			return false, pawl.Fail(pawl.CodeIO, "forge.endless", r.String(), n).In("forge.Commented")
		}
		p, _, err := work.get(ctx, address, '[')
		if err != nil {
			return false, err
		}
		var comments []struct {
			Body string `json:"body"`
		}
		if err := json.Unmarshal(p.Body, &comments); err != nil {
			return false, pawl.Fail(pawl.CodeIO, "forge.malformed", shown(address)).Because(err).In("forge.Commented")
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
		return pawl.Fail(pawl.CodeInvalid, "forge.label").In("forge.Label")
	}
	return c.writing(ctx, func(ctx context.Context, gh *github.Client) error {
		_, _, err := gh.Issues.AddLabelsToIssue((&manner{again: true}).in(ctx), r.Owner, r.Name, number, labels)
		return err
	})
}

// writing does something that needs a token.
func (c *Client) writing(ctx context.Context, do func(context.Context, *github.Client) error) error {
	work, err := c.begin()
	if err != nil {
		return err
	}
	if err := work.permitted(); err != nil {
		return err
	}
	gh, err := work.github()
	if err != nil {
		return err
	}
	return work.plain(ctx, work.api.String(), do(ctx, gh))
}

// permitted fails where there is no token.
func (c *call) permitted() error {
	token, err := "", error(nil)
	if c.of.Token != nil {
		token, err = c.of.Token()
	}
	if err == nil && token == "" {
		err = pawl.Fail(pawl.CodeLogin, "forge.token_needed", c.api.Host, c.of.TokenName).In("forge.Write")
	}
	return err
}

package object

import (
	"context"
	"slices"
	"strings"

	"pawl/sandbox/git/program"
)

// Dangling names the references below a prefix that point to nothing.
func Dangling(ctx context.Context, prefix string,
	call func(stdin string, args ...string) program.Call) (names []string, err error) {
	refs, _, err := call("", "for-each-ref", "--format=%(objectname) %(refname)", "--", prefix).Run(ctx)
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	out, _, err := call(string(refs), "cat-file", "--batch-check=%(objecttype) %(rest)").Run(ctx)
	if err != nil {
		return nil, err
	}
	var gone []string
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutSuffix(strings.TrimSpace(line), " missing"); ok {
			gone = append(gone, id)
		}
	}
	for ref := range strings.Lines(string(refs)) {
		if id, name, _ := strings.Cut(strings.TrimSpace(ref), " "); slices.Contains(gone, id) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Deletion says to git that references are to be removed, whatever they name.
func Deletion(names []string) string {
	return "delete " + strings.Join(names, "\ndelete ") + "\n"
}

package object

import "strings"

// Deletion says to git that references are to be removed, whatever they name.
func Deletion(names []string) string {
	return "delete " + strings.Join(names, "\ndelete ") + "\n"
}

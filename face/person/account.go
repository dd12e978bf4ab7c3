package person

import (
	"cmp"
	"os"
	"os/user"
	"slices"
	"strconv"
)

// Account names the user for the record of who acted. It is never empty: without a variable it is the account's name
// and, if the system knows none, the user id.
func Account(env func(string) string) string {
	name := cmp.Or(env("USER"), env("LOGNAME"), env("USERNAME"))
	if account, err := user.Current(); name == "" && err == nil {
		name = account.Username
	}
	return cmp.Or(name, "uid-"+strconv.Itoa(os.Getuid()))
}

// MayApprove reports whether pawl accepts an approval from a program that Program named, "" for a person: if the user's
// settings name the program among the approvers, or if the user set a key, which signs for no coding agent.
func MayApprove(program string, approvers []string, key bool) bool {
	return program == "" || slices.Contains(approvers, program) || key && !IsAgent(program)
}

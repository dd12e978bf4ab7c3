package replay

import (
	"cmp"
	"reflect"
	"sync"

	"pawl/kernel"
	"pawl/kernel/joined"
)

// recordedAs are the names under which recordings know the commands whose types have other names.
var recordedAs = map[string]string{
	"AddDependency": "Depend", "AnswerQuestions": "Give", "AttachSession": "Bind", "ClaimIssue": "Take",
	"ReleaseIssue": "Leave", "RenewIssue": "Keep", "StartToolCall": "Make",
}

// nameOf is the name under which a command is recorded.
func nameOf(c kernel.Command) string {
	name := reflect.TypeOf(c).Elem().Name()
	return cmp.Or(recordedAs[name], name)
}

// protocols is the table by which decisions are made again.
var protocols = sync.OnceValue(joined.Table)

// command makes an empty command from its name, or returns nil.
func command(name string) kernel.Command {
	for _, c := range protocols().Commands {
		if nameOf(c) == name {
			return reflect.New(reflect.TypeOf(c).Elem()).Interface().(kernel.Command)
		}
	}
	return nil
}

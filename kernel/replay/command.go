package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"pawl/kernel"
	"pawl/kernel/joined"
)

// recordedAs are the names under which recordings know the commands whose types have other names.
var recordedAs = map[string]string{
	"issues.AddDependency": "issues.Depend", "issues.ClaimIssue": "issues.Take", "issues.ReleaseIssue": "issues.Leave",
	"issues.RenewIssue": "issues.Keep", "steps.AnswerQuestions": "steps.Give", "steps.AttachSession": "steps.Bind",
	"steps.StartToolCall": "steps.Make",
}

// nameOf is the name under which a command is recorded: its package and its type, since packages share names of types.
func nameOf(c kernel.Command) string {
	t := reflect.TypeOf(c).Elem()
	name := path.Base(t.PkgPath()) + "." + t.Name()
	return cmp.Or(recordedAs[name], name)
}

// protocols is the table by which decisions are made again.
var protocols = sync.OnceValue(joined.Table)

// command reads a command from its name and arguments. Earlier recordings have the type alone; where several packages
// have it, the command is the first one whose arguments these are.
func command(name string, args json.RawMessage) (kernel.Command, error) {
	var named []kernel.Command
	for _, c := range protocols().Commands {
		full := nameOf(c)
		if _, typ, _ := strings.Cut(full, "."); name == full || name == typ {
			named = append(named, empty(c))
		}
	}
	if len(named) == 0 {
		return nil, fmt.Errorf("the command %.40q is unknown", name)
	}
	c := named[max(0, slices.IndexFunc(named, func(c kernel.Command) bool {
		d := json.NewDecoder(bytes.NewReader(args))
		d.DisallowUnknownFields()
		return d.Decode(empty(c)) == nil
	}))]
	return c, json.Unmarshal(args, c)
}

// empty returns an empty command of the same type.
func empty(c kernel.Command) kernel.Command {
	return reflect.New(reflect.TypeOf(c).Elem()).Interface().(kernel.Command)
}

package plan

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEncodedPlanReadsBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPlan().Draw(t, "plan")
		if err := Check(p, nil, DefaultLimits()); err != nil {
			t.Fatalf("the generator made a bad plan: %v", err)
		}
		for name, encode := range map[string]func(Plan) ([]byte, error){"JSON": EncodeJSON, "YAML": EncodeYAML} {
			data, err := encode(p)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := Decode("p", data)
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, data)
			}
			if !reflect.DeepEqual(got, p) {
				t.Fatalf("%s: %s\n%s", name, cmp.Diff(p, got), data)
			}
			if Hash(got) != Hash(p) {
				t.Fatalf("%s: the hash changed", name)
			}
		}
	})
}

func TestRenderedPRDReadsBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPlan().Draw(t, "plan")
		for _, l := range []Labels{English(), Chinese()} {
			text := RenderPRD(p, l)
			for _, variant := range []string{text, strings.ReplaceAll(text, "\n", "\r\n"), "\ufeff" + text} {
				got, changes, err := ParsePRD(variant, p)
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				if !reflect.DeepEqual(got, p) || len(changes) > 0 {
					t.Fatalf("%s\n%v\n%s", cmp.Diff(p, got), changes, text)
				}
			}
		}
	})
}

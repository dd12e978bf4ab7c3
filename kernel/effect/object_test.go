package effect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/kernel/effect"
)

type kind string

func TestObjectOf(t *testing.T) {
	type part struct {
		Port uint16 `json:"port" min:"1" max:"65535"`
	}
	type args struct {
		Path   string   `json:"path" min:"1" max:"4096" about:"A file, with \"quotes\"."`
		Kind   kind     `json:"kind,omitempty" enum:"one,two"`
		Deep   *bool    `json:"deep,omitempty"`
		Size   int64    `json:"size" max:"9"`
		Names  []string `json:"names"`
		Parts  []part   `json:"parts,omitempty" about:"Parts."`
		Silent string   `json:"silent" schema:"-"`
		own    int
	}
	want := effect.Object{
		{Name: "path", Type: effect.String, Required: true, Min: 1, Max: 4096, About: `A file, with "quotes".`},
		{Name: "kind", Type: effect.String, Enum: []string{"one", "two"}},
		{Name: "deep", Type: effect.Boolean},
		{Name: "size", Type: effect.Integer, Required: true, Max: 9},
		{Name: "names", Type: effect.Strings, Required: true},
		{Name: "parts", Type: effect.Objects, About: "Parts.", Fields: effect.Object{
			{Name: "port", Type: effect.Integer, Required: true, Min: 1, Max: 65535},
		}},
	}
	if diff := cmp.Diff(want, effect.ObjectOf[args]()); diff != "" {
		t.Error(diff)
	}
	_ = args{own: 1}
}

// TestObjectOfNothing: a declaration that says nothing of use does not become a schema that lets all through.
func TestObjectOfNothing(t *testing.T) {
	type (
		number struct {
			A int `json:"a" min:"one"`
		}
		mapped struct {
			A map[string]int `json:"a"`
		}
		listed struct {
			A []int `json:"a"`
		}
	)
	for name, of := range map[string]func() effect.Object{
		"a bound that is no number": effect.ObjectOf[number], "a map": effect.ObjectOf[mapped],
		"a list of numbers": effect.ObjectOf[listed],
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is described", name)
				}
			}()
			of()
		}()
	}
}

package solution_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pawl"
	"pawl/text/solution"
)

var noon = time.Date(2026, 2, 8, 12, 0, 59, 0, time.UTC)

func none(string) bool { return false }

func TestFeature(t *testing.T) {
	for in, want := range map[string]string{
		"Add a login page":                 "add-a-login-page",
		"  --Add__a  (login) page!! ":      "add-a-login-page",
		"实现 用户登录，支持 OAuth2":                "实现-用户登录-支持-oauth2",
		"修复bug":                            "修复bug",
		"\u212Belvin \u0130stanbul":        "elvin-stanbul", // letters that lower case would turn into ASCII
		"ＡＢＣ１":                             "",
		"😀 … —":                            "",
		"":                                 "",
		"../../etc/passwd":                 "etc-passwd",
		"a\x00b\xffc":                      "a-b-c",
		strings.Repeat("长", 100):           strings.Repeat("长", 48),
		strings.Repeat("ab ", 100):         strings.TrimSuffix(strings.Repeat("ab-", 16), "-"),
		strings.Repeat("x", 47) + " y":     strings.Repeat("x", 47),
		strings.Repeat("x", 46) + " y":     strings.Repeat("x", 46) + "-y",
		"龥\u9fff\u4dff\ua000一":             "龥\u9fff-一",
		"UPPER_snake.Case/Path":            "upper-snake-case-path",
		strings.Repeat("-", 1<<20) + "end": "end",
	} {
		got, err := solution.Feature(in)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("Feature(%.40q) = %q, %v, want %q", in, got, err, want)
		}
	}
	_, err := solution.Feature("？！")
	var e *pawl.Error
	if !errors.As(err, &e) || e.Code != pawl.CodeInvalid || e.Args[0] != "？！" {
		t.Errorf("the error does not name the input: %v", err)
	}
}

func TestNewName(t *testing.T) {
	taken := map[string]bool{"202602081200_a": true, "202602081200_a_v2": true}
	exists := func(n string) bool { return taken[n] }
	for _, c := range []struct {
		of   string
		at   time.Time
		want string
		code pawl.Code
	}{
		{"a", noon, "202602081200_a_v3", ""},
		{"A!", noon.In(time.FixedZone("", -5*3600)), "202602081200_a_v3", ""},
		{"b", noon, "202602081200_b", ""},
		{"a", noon.Add(time.Second), "202602081201_a", ""},
		{"a", time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), "200001010000_a", ""},
		{"a", time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC), "", pawl.CodeEnvironment},
		{"a", time.Time{}, "", pawl.CodeEnvironment},
		{"a", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "", pawl.CodeEnvironment},
		{"…", noon, "", pawl.CodeInvalid},
	} {
		n, err := solution.NewName(c.of, c.at, exists)
		if pawl.CodeOf(err) != c.code || err == nil && n.String() != c.want {
			t.Errorf("%q at %v: %v, %v, want %q %s", c.of, c.at, n, err, c.want, c.code)
		}
	}
}

// TestNamesDoNotRunOut: however many plans of one goal are made within a minute, each gets the next name, and few names
// are looked at for it.
func TestNamesDoNotRunOut(t *testing.T) {
	taken, last := map[string]bool{}, ""
	for i := range 3000 {
		looked := 0
		n, err := solution.NewName("a", noon, func(n string) bool { looked++; return taken[n] })
		last = n.String()
		if err != nil || taken[last] || looked > 30 {
			t.Fatalf("plan %d: %s, taken %v, %d names looked at: %v", i+1, last, taken[last], looked, err)
		}
		if _, err := solution.ParseName(last); err != nil {
			t.Fatal(err)
		}
		taken[last] = true
	}
	if last != "202602081200_a_v3000" {
		t.Errorf("the last of 3000 is %s", last)
	}
	// Where names were not taken in order, the answer is free all the same.
	delete(taken, "202602081200_a_v17")
	if n, _ := solution.NewName("a", noon, func(n string) bool { return taken[n] }); taken[n.String()] {
		t.Errorf("%s is taken", n)
	}
}

func TestParseName(t *testing.T) {
	for in, want := range map[string]solution.Name{
		"202602081200_a":        {Feature: "a"},
		"202602081200_a_v2":     {Feature: "a", Version: 2},
		"202602081200_a_v1":     {Feature: "a_v1"},
		"202602081200_a_v02":    {Feature: "a_v02"},
		"202602081200__v2":      {Feature: "_v2"},
		"202602081200_My Thing": {Feature: "My Thing"},
		"202602081200_修复_v12":   {Feature: "修复", Version: 12},
	} {
		n, err := solution.ParseName(in)
		if err != nil || n.Feature != want.Feature || n.Version != want.Version ||
			!n.Minute.Equal(noon.Truncate(time.Minute)) || n.String() != in {
			t.Errorf("%q: %+v, %v", in, n, err)
		}
	}
	for _, in := range []string{
		"", "a", "202602081200", "202602081200_", "20260208120_a", "2026020812000_a", "202613081200_a",
		"202602301200_a", "202602082400_a",
		"202602081200_a/b", `202602081200_a\b`, "202602081200_a\nb", "202602081200_a\u202eb", "202602081200_\xff",
		"２０２６02081200_a", "202602081200_" + strings.Repeat("a", 300),
	} {
		if n, err := solution.ParseName(in); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%q: %+v, %v", in, n, err)
		}
	}
}

var safeName = regexp.MustCompile(`^\d{12}_[a-z0-9\x{4e00}-\x{9fff}]+(-[a-z0-9\x{4e00}-\x{9fff}]+)*(_v\d+)?$`)

func TestNamesAreReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		of := hostile().Draw(rt, "of")
		at := time.Unix(rapid.Int64Range(946684800, 253402300799).Draw(rt, "at"), 0)
		left := rapid.IntRange(0, 20).Draw(rt, "taken")
		n, err := solution.NewName(of, at, func(string) bool { left--; return left >= 0 })
		if err != nil {
			return
		}
		again, err := solution.ParseName(n.String())
		if err != nil || again.String() != n.String() || again.Feature != n.Feature || again.Version != n.Version ||
			!again.Minute.Equal(n.Minute) {
			rt.Fatalf("%+v read back %+v, %v", n, again, err)
		}
		if !safeName.MatchString(n.String()) || len(n.String()) > 255 ||
			utf8.RuneCountInString(n.Feature) > solution.MaxFeature {
			rt.Fatalf("name %q", n)
		}
	})
}

func TestPick(t *testing.T) {
	names := []string{"202602081200_login", "notes", "202602081201_logout", "202602081202_cart", ".git"}
	for _, c := range []struct {
		names []string
		want  string
		got   string
		code  pawl.Code
	}{
		{names, "202602081200_login", "202602081200_login", ""},
		{names, "cart", "202602081202_cart", ""},
		{names, "202602081201", "202602081201_logout", ""},
		{names, "log", "", pawl.CodeUsage},
		{names, "", "", pawl.CodeUsage},
		{names, "crat", "", pawl.CodeNotFound},
		{names, "notes", "", pawl.CodeNotFound},
		{names[:2], "", "202602081200_login", ""},
		{names[1:2], "", "", pawl.CodeNotFound},
		{nil, "", "", pawl.CodeNotFound},
	} {
		got, err := solution.Pick(c.names, c.want)
		if got != c.got || pawl.CodeOf(err) != c.code {
			t.Errorf("%v %q: %q, %v", c.names, c.want, got, err)
		}
	}
	_, err := solution.Pick(names, "crat")
	if err == nil || !strings.Contains(err.Error(), "solution.no_such_near crat cart") {
		t.Errorf("nearest name: %v", err)
	}
}

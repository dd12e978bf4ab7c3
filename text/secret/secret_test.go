package secret

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAxQ1n2b3c4d5e6f7g8h9i0j\nkLmNoPqRsTuVwXyZ0123456789abcdef\n" +
	"-----END RSA PRIVATE KEY-----"

// token is a text that looks drawn, the same in each run. It stands in no file as a whole, so that nothing that looks
// for secrets finds it there.
func token(letters string, n int) string {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var b strings.Builder
	for range n {
		b.WriteByte(letters[r.IntN(len(letters))])
	}
	return b.String()
}

// TestForms finds each of the forms, in prose, in quotes and at the ends of a text, and nothing besides.
func TestForms(t *testing.T) {
	for _, f := range forms {
		if f.end != nil {
			continue
		}
		value := f.lead + token(f.of, max(f.least, min(f.least+4, f.most)))
		for _, text := range []string{"%", "see % there", `k="%"`, "<%>", "a\n%\nb", "x=%&y=1"} {
			got := (*Redactor)(nil).Find(strings.ReplaceAll(text, "%", value))
			if len(got) != 1 || got[0].Rule != f.name && got[0].Rule != RuleAssigned ||
				strings.ReplaceAll(text, "%", value)[got[0].From:got[0].To] != value {
				t.Errorf("%s in %q: %+v", f.name, strings.ReplaceAll(text, "%", value), got)
			}
		}
		for _, not := range []string{f.lead, f.lead + strings.Repeat("a", f.least), "x" + value} {
			for _, got := range (*Redactor)(nil).Find(not) {
				if got.Rule == f.name && f.lead[0] != ':' {
					t.Errorf("%s: %q is one", f.name, not)
				}
			}
		}
	}
}

func TestText(t *testing.T) {
	r := New("correct horse battery", "short", "line-one-of-it\nline-two-of-it\n")
	jwt := "eyJ" + token(word, 20) + "." + token(word, 30) + "." + token(word, 40)
	for text, want := range map[string]string{
		"nothing here, short":                          "nothing here, short",
		"a correct horse battery!":                     "a [secret:env]!",
		"correct+horse+battery":                        "[secret:env]",
		"Y29ycmVjdCBob3JzZSBiYXR0ZXJ5":                 "[secret:env]",
		"line-two-of-it":                               "[secret:env]",
		"Authorization: Bearer abcdefghijklmnop0123":   "Authorization: Bearer [secret:bearer]",
		"AUTHORIZATION: basic c2VjcmV0":                "AUTHORIZATION: basic [secret:bearer]",
		"authorization: Token abcdefgh":                "authorization: Token [secret:bearer]",
		"Authorization: Bearer $TOKEN, see above":      "Authorization: Bearer $TOKEN, see above",
		"Authorization: Basic auth, described below":   "Authorization: Basic auth, described below",
		"bearer of bad news and other things":          "bearer of bad news and other things",
		"https://ada:pw@example.org/x":                 "https://ada:[secret:url-password]@example.org/x",
		"https://ada@example.org/x?a=b@c":              "https://ada@example.org/x?a=b@c",
		"ssh://git@example.org":                        "ssh://git@example.org",
		"https://$USER:$PASS@example.org":              "https://$USER:$PASS@example.org",
		"API_KEY=abcdefgh12 go test":                   "API_KEY=[secret:assigned] go test",
		`password: "s3cret-word"`:                      `password: "[secret:assigned]"`,
		`"client_secret": "a1b2c3d4e5f6g7h8"`:          `"client_secret": "[secret:assigned]"`,
		`secret := os.Getenv("API_KEY_2")`:             `secret := os.Getenv("API_KEY_2")`,
		`token := jwt5.New(claims)`:                    `token := jwt5.New(claims)`,
		"password = form.fields2.password":             "password = form.fields2.password",
		"token_path: /run/secrets/k8s/token1":          "token_path: /run/secrets/k8s/token1",
		"passwords must have 8 characters":             "passwords must have 8 characters",
		"ghp_0123456789abcdefghijklmn":                 "[secret:github-token]",
		"AKIAIOSFODNN7EXAMPLE":                         "[secret:aws-access-key]",
		jwt + ",":                                      "[secret:jwt],",
		"x\n" + pem + "\ny":                            "x\n[secret:private-key]\ny",
		strings.ReplaceAll(pem, "\n", `\n`):            "[secret:private-key]",
		strings.Split(pem, "-----END")[0]:              "[secret:private-key]",
		`if s == "-----BEGIN RSA PRIVATE KEY-----" {}`: `if s == "-----BEGIN RSA PRIVATE KEY-----" {}`,
		"sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08": "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"01JM2Z8Q3W8Y7V6T5R4E3W2Q1A":                   "01JM2Z8Q3W8Y7V6T5R4E3W2Q1A",
		"sk-learn and task-runner-for-people-who-wait": "sk-learn and task-runner-for-people-who-wait",
	} {
		got := r.Text(text)
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if again := r.Text(got); again != got {
			t.Errorf("%q: %q again", got, again)
		}
		if IsMarked(got) != strings.Contains(want, "[secret:") {
			t.Errorf("%q is marked: %v", got, IsMarked(got))
		}
	}
	if IsMarked("[secret:x] and [secret:") {
		t.Error("what is no mark counts as one")
	}
}

// TestWeak: nobody is asked about examples, or about what anybody types who needs a password.
func TestWeak(t *testing.T) {
	for text, weak := range map[string]bool{
		"AKIAIOSFODNN7EXAMPLE":                                     true,
		"ghp_xxxxxxxxxxxxEXAMPLE1234567890abcd":                    true,
		`password: "s3cret-word"`:                                  true,
		`secret = "test-0123456789abcdef"`:                         true,
		"postgres://app:postgres@localhost/db":                     true,
		"postgres://app:" + token(alnum, 14) + "@db.internal/prod": false,
		"token = '" + token(alnum, 32) + "'":                       false,
		"ghp_" + token(alnum, 36):                                  false,
		pem:                                                        false,
	} {
		got := (*Redactor)(nil).Find(text)
		if len(got) != 1 || got[0].Weak != weak {
			t.Errorf("%q: %+v", text, got)
		}
		if same := (*Redactor)(nil).Certain(text) == text; same != weak {
			t.Errorf("%q is left: %v", text, same)
		}
	}
	f := (*Redactor)(nil).Find("a\nb ghp_" + token(alnum, 36))
	if shown := f[0].Masked("a\nb ghp_" + token(alnum, 36)); shown != "ghp_…[secret:github-token]" ||
		f[0].Line("a\nb ghp_") != 2 {
		t.Errorf("%q on line %d", shown, f[0].Line("a\nb ghp_"))
	}
}

// TestStream cuts a text at every place and in three, and has the same come out as of the whole.
func TestStream(t *testing.T) {
	r := New("correct horse battery staple")
	text := "start\nexport GITHUB=ghp_" + token(alnum, 36) + " done\r\n" + pem + "\nafter correct horse battery staple end\n" +
		"curl https://ada:" + token(alnum, 12) + "@host/x\nAuthorization: Bearer " + token(alnum, 24) + "\n" +
		"password = \"a1b2c3d4e5f6\"\nplain ... dots\nno newline at the end AKIA" + token(upper, 16)
	want := r.Text(text)
	if strings.Count(want, "[secret:") != 7 {
		t.Fatalf("%q", want)
	}
	for i := range len(text) {
		for _, j := range []int{i, min(i+3, len(text)), min(i+40, len(text))} {
			var got strings.Builder
			w := r.Writer(func(b []byte) { got.Write(b) })
			for _, part := range []string{text[:i], text[i:j], text[j:]} {
				_, _ = w.Write([]byte(part))
			}
			_ = w.Close()
			if got.String() != want {
				t.Fatalf("cut at %d and %d:\n%q\n%q", i, j, got.String(), want)
			}
		}
	}
	var got strings.Builder
	w := r.Writer(func(b []byte) { got.Write(b) })
	for i := range len(text) {
		_, _ = w.Write([]byte{text[i]})
	}
	_ = w.Close()
	if got.String() != want {
		t.Errorf("byte by byte:\n%q", got.String())
	}
}

// TestStreamOfOneLine: a line without an end is neither kept for ever nor a way to pass a secret.
func TestStreamOfOneLine(t *testing.T) {
	secret := "ghp_" + token(alnum, 36)
	for _, fill := range []string{"x", " ", "x "} {
		var got strings.Builder
		w := (*Redactor)(nil).Writer(func(b []byte) { got.Write(b) })
		for range 5 {
			_, _ = w.Write([]byte(strings.Repeat(fill, 40<<10/len(fill))))
			_, _ = w.Write([]byte(" " + secret[:20]))
			_, _ = w.Write([]byte(secret[20:] + " "))
			if len(w.held) > maxHeld+1<<10 {
				t.Fatalf("%d bytes are held", len(w.held))
			}
		}
		_ = w.Close()
		if strings.Contains(got.String(), secret[8:]) || strings.Count(got.String(), "[secret:github-token]") != 5 ||
			got.Len() < 5*40<<10 {
			t.Errorf("%q: %d marks in %d bytes", fill, strings.Count(got.String(), "[secret:"), got.Len())
		}
	}
}

// TestStreamShows: what can be no part of a secret is shown before its line ends.
func TestStreamShows(t *testing.T) {
	var got strings.Builder
	w := (*Redactor)(nil).Writer(func(b []byte) { got.Write(b) })
	for _, step := range []struct{ write, want string }{{"...", "..."}, {"..\n", ".....\n"}, {"10%\r50", ".....\n10%\r"}} {
		_, _ = w.Write([]byte(step.write))
		if got.String() != step.want {
			t.Errorf("%q: %q, want %q", step.write, got.String(), step.want)
		}
	}
}

func TestValues(t *testing.T) {
	random := token(alnum, 20)
	got := Values("# comment\nPORT=3000\nNODE_ENV=development\nDB_PASSWORD='hunter2hunter2'\nSTRIPE=" + random +
		"\nURL=postgres://app:pass1word@db/x\nAPI_KEY=changeme-please\nexport TOKEN=abcd\nDEBUG=true\n" +
		"machine x login y password netrc-password\n\"private_key_id\": \"0a1b2c3d4e5f\",\n")
	slices.Sort(got)
	want := []string{"hunter2hunter2", random, "pass1word", "netrc-password", "0a1b2c3d4e5f"}
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Known([]string{"PATH=/usr/local/bin", "MY_API_KEY=abcdefgh", "X_TOKEN=abc"}); !slices.Equal(got,
		[]string{"abcdefgh"}) {
		t.Errorf("known %q", got)
	}
}

func FuzzStream(f *testing.F) {
	f.Add("a ghp_0123456789abcdefghijklmn b", 5)
	f.Add(pem, 40)
	f.Add("password=\"a1b2c3d4e5f6\" x", 12)
	r := New("hunter2 hunter2")
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if once := r.Text(text); r.Text(once) != once {
			t.Errorf("%q becomes %q", once, r.Text(once))
		}
		var got strings.Builder
		w := r.Writer(func(b []byte) { got.Write(b) })
		cut = min(max(cut, 0), len(text))
		_, _ = w.Write([]byte(text[:cut]))
		_, _ = w.Write([]byte(text[cut:]))
		_ = w.Close()
		for _, k := range r.known {
			if strings.Contains(got.String(), k) {
				t.Errorf("%q came through %q cut at %d", k, text, cut)
			}
		}
	})
}

func BenchmarkWriter(b *testing.B) {
	line := []byte("2026-01-02T03:04:05Z INFO server: request id=01JM2Z8Q3W8Y7V6T5R4E3W2Q1A took 15ms status=200 path=/a/b\n")
	chunk := []byte(strings.Repeat(string(line), 300))
	w := New("hunter2 hunter2", "another-known-value").Writer(func([]byte) {})
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		_, _ = w.Write(chunk)
	}
}

package word_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/word"
	"pawl/text/message"
)

// TestErrorIsTheRefusal: no text for people has the statement that is signed.
func TestErrorIsTheRefusal(t *testing.T) {
	refused := pawl.Fail(pawl.CodeDenied, "kernel.no_person", "cron")
	var err error = &word.Decision{Refused: refused, About: "plan"}
	text, _ := message.English.Error(err)
	if !errors.Is(err, refused) || strings.Contains(err.Error()+text, "pawl decision") || !strings.Contains(text, "cron") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestText: two decisions that differ in anything are signed in different texts, and no text of somebody else makes a
// line of its own.
func TestText(t *testing.T) {
	plain := word.Decision{Workspace: "w", Folder: "/f", About: "plan", Digest: "d", Answer: "approve", Note: "n",
		Subject: audit.Subject{Kind: "approval", ID: "1"}, Version: 1}
	seen := map[string]string{plain.Text(): "nothing"}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(plain)) {
		other := plain
		switch v := reflect.ValueOf(&other).Elem().FieldByIndex(f.Index); v.Kind() {
		case reflect.Interface:
			continue // why it is asked for is not part of it
		case reflect.String:
			v.SetString("x\"\nanswer: \"refuse")
		case reflect.Int64:
			v.SetInt(2)
		default:
			v.Field(1).SetString("2")
		}
		text := other.Text()
		if was, ok := seen[text]; ok {
			t.Errorf("with another %s the text is that with another %s", f.Name, was)
		}
		if seen[text] = f.Name; strings.Count(text, "\n") != strings.Count(plain.Text(), "\n") {
			t.Errorf("%s makes lines of its own:\n%s", f.Name, text)
		}
	}
	if plain.Note = ""; strings.Contains(plain.Text(), "note") {
		t.Error(plain.Text())
	}
	want := "pawl decision 1\nworkspace: \"w\" in \"/f\"\nabout: \"plan\"\ndigest: \"d\"\nanswer: \"approve\"\nof: \"approval:1\" at version 1\n"
	if got := plain.Text(); got != want {
		t.Errorf("%q", got)
	}
}

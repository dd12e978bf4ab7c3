package person

import "testing"

// TestAncestors: whoever runs this test is found, and this test has no terminal to speak from when it has no input.
func TestAncestors(t *testing.T) {
	if got := ancestors(); len(got) == 0 || got[0].called() == Unknown {
		t.Errorf("%+v", got)
	}
	if got := Program(nil, func(string) string { return "" }); got == "" {
		t.Error("without any input this passed for a person's word")
	}
}

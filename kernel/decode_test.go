package kernel_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pawl/kernel"
)

// A document is read as the package that writes it reads it: in any case, the last of two members, null for what stays
// as it is, whatever nobody knows, and a byte that is no UTF-8.
func TestDocumentsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`{}`, `{"requirement":"a","REQUIREMENT":"b"}`, `{"requirement":"a","requirement":"b"}`, `{"Requirement":"a"}`,
		`{"requirement":null}`,
		`{"requirement":"a","nobody":{"knows":[1]}}`, "{\"requirement\":\"\xff\"}", `{"requirement":"\ud800"}`,
		`{"requirement":1}`, `{"requirement":"a"`,
		`{"requirement":"a"} {}`, `{"created_at":"2026-01-02T03:04:05Z","ended_at":"2026-01-02T03:04:05.006Z"}`, `[]`,
		`null`,
	} {
		got, want := new(kernel.Run), new(kernel.Run)
		row := kernel.Row{Kind: kernel.KindRun, ID: "R", Doc: []byte(doc)}
		err, flaw := kernel.Decode(row, got), json.Unmarshal(row.Doc, want)
		want.Row = row
		if (err == nil) != (flaw == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v, %v", doc, got, err, want, flaw)
		}
	}
}

package contextpack

import (
	"cmp"
	database "database/sql"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// ftsTables are two ways to keep the words of files in SQLite's FTS5: split before, each once for a file, and without a
// copy of the text. Only the first can rank by itself (bm25), because that needs the places of words.
var ftsTables = []string{
	`CREATE VIRTUAL TABLE words USING fts5(word, part, name, content='', tokenize="ascii tokenchars '_'")`,
	`CREATE VIRTUAL TABLE words USING fts5(word, part, name, content='', detail=none, columnsize=0, tokenize="ascii tokenchars '_'")`,
}

// BenchmarkFTS5 is why the index keeps words itself. It analyses files, which a first pack does anyway, adds their
// words to FTS5 in a file without journal or sync, and looks for the file that a test file tests by the names of its
// tests. It reports how many times as long a first analysis takes with FTS5 as without, and the mean reciprocal rank of
// the tested file with FTS5's ranking and with pawl's.
func BenchmarkFTS5(b *testing.B) {
	paths, texts := goSources(b, 2000)
	var analysing time.Duration
	adding := make([]time.Duration, len(ftsTables))
	var ix *index
	var ranked *database.DB
	for b.Loop() {
		start := time.Now()
		ix = &index{t: newTable()}
		a := analyst{t: ix.t}
		for i, p := range paths {
			ix.list = append(ix.list, &entry{path: p, facts: a.analyse(p, texts[i], nil)})
		}
		analysing += time.Since(start)
		for i, table := range ftsTables {
			start := time.Now()
			db := wordsInFTS5(b, table, ix)
			adding[i] += time.Since(start)
			if i == 0 {
				ranked = db
			}
		}
	}
	b.ReportMetric(float64(analysing+adding[0])/float64(analysing), "x-ranking")
	b.ReportMetric(float64(analysing+adding[1])/float64(analysing), "x-words")
	c := newCorpus(ix.t, ix.list, nil)
	own, theirs, asked := 0.0, 0.0, 0
	for i, p := range paths {
		code := slices.Index(paths, strings.TrimSuffix(p, "_test.go")+".go")
		said := ""
		for _, s := range ix.list[i].symbols {
			if name := ix.t.list[s.name]; isTestName(name) && len(said) < 500 {
				said += "--- FAIL: " + name + "\n"
			}
		}
		if code < 0 || said == "" || i%3 > 0 {
			continue
		}
		asked++
		q := ask(said)
		own += 1 / float64(placeOf(code, rank(c, q).fileScore))
		theirs += 1 / float64(placeOf(code, rankedByFTS5(b, ranked, c, q)))
	}
	b.ReportMetric(own/float64(asked), "MRR-own")
	b.ReportMetric(theirs/float64(asked), "MRR-fts5")
}

// goSources reads the first sources of the Go distribution.
func goSources(b *testing.B, most int) (paths []string, texts [][]byte) {
	b.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("no go command")
	}
	src := filepath.Join(strings.TrimSpace(string(out)), "src")
	err = filepath.WalkDir(src, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.Contains(p, "vendor") {
			return err
		}
		if len(paths) == most {
			return fs.SkipAll
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(src, p)
		paths, texts = append(paths, filepath.ToSlash(rel)), append(texts, data)
		return err
	})
	if err != nil || len(paths) < most {
		b.Fatalf("%d files: %v", len(paths), err)
	}
	return paths, texts
}

// wordsInFTS5 adds the words of every file: in lower case, the stems of their parts, and those of the file's name.
func wordsInFTS5(b *testing.B, table string, ix *index) *database.DB {
	b.Helper()
	name := filepath.Join(b.TempDir(), "words.db")
	db, err := database.Open("sqlite", "file:"+name+"?_pragma=journal_mode(off)&_pragma=synchronous(off)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	run := func(_ any, err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	run(db.Exec(table))
	run(db.Exec("INSERT INTO words(words, rank) VALUES('hashsize', 67108864)")) // all of it is sorted in memory
	tx, err := db.Begin()
	run(nil, err)
	add, err := tx.Prepare("INSERT INTO words(rowid, word, part, name) VALUES(?, ?, ?, ?)")
	run(nil, err)
	features := newTable()
	split := make([][]uint32, len(ix.t.list)) // by word, because most are in many files
	var seen [2][]int                         // by feature: the file in which it was found last, from 1
	for i, e := range ix.list {
		var text [2]strings.Builder // of words, and of parts
		once := func(to int, feature uint32) {
			for int(feature) >= len(seen[to]) {
				seen[to] = append(seen[to], make([]int, 1<<16)...)
			}
			if seen[to][feature] != i+1 {
				seen[to][feature] = i + 1
				text[to].WriteString(features.list[feature])
				text[to].WriteByte(' ')
			}
		}
		for _, id := range e.words {
			if split[id] == nil {
				for _, s := range splitWord(ix.t.list[id]) {
					split[id] = append(split[id], features.idOf(s))
				}
			}
			once(0, split[id][0])
			for _, p := range split[id][1:] {
				once(1, p)
			}
		}
		run(add.Exec(i, text[0].String(), text[1].String(), strings.Join(splitWord(stemOf(e.path))[1:], " ")))
	}
	run(nil, tx.Commit())
	return db
}

// splitWord returns a word in lower case and the stems of its parts.
func splitWord(w string) []string {
	out := []string{string(foldTo(nil, []byte(w)))}
	parts([]byte(w), nil, func(p []byte) {
		if s := string(stem(p)); len(p) > 2 && !slices.Contains(out[1:], s) {
			out = append(out, s)
		}
	})
	return out
}

// rankedByFTS5 weighs files by bm25, with pawl's weights of terms and kinds of files.
func rankedByFTS5(b *testing.B, db *database.DB, c *corpus, q *query) []float64 {
	b.Helper()
	score := make([]float64, len(c.files))
	find := func(column, text string, weight float64) {
		match := column + `:"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		rows, err := db.Query("SELECT rowid, bm25(words) FROM words WHERE words MATCH ?", match)
		if err != nil {
			b.Fatal(match, err)
		}
		defer rows.Close()
		for rows.Next() {
			var file int
			var rank float64
			if err := rows.Scan(&file, &rank); err != nil {
				b.Fatal(err)
			}
			score[file] -= weight * rank * c.quality(int32(file))
		}
		if err := rows.Err(); err != nil {
			b.Fatal(match, err)
		}
	}
	for text, i := range q.folded {
		find("word", text, q.terms[i].weight)
	}
	for s, i := range q.stems {
		find("part", s, 0.3*q.terms[i].weight)
		find("name", s, 1.5*0.3*q.terms[i].weight)
	}
	return score
}

// placeOf is the place, from 1, of a file among those that are ordered by their score.
func placeOf(file int, score []float64) int {
	at := 1
	for i, s := range score {
		if cmp.Or(cmp.Compare(s, score[file]), cmp.Compare(file, i)) > 0 {
			at++
		}
	}
	return at
}

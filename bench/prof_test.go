package main
import "testing"
func BenchmarkAccept(b *testing.B) {
	legal, _ := pairs()
	try := decider(legal)
	b.ReportAllocs()
	i := 0
	for b.Loop() { if err := try(i%len(legal)); err != nil { b.Fatal(err) }; i++ }
}
func BenchmarkAcceptEach(b *testing.B) {
	legal, _ := pairs()
	try := decider(legal)
	for i, m := range legal {
		b.Run(string(m.from)+"-"+string(m.to), func(b *testing.B) { b.ReportAllocs(); for b.Loop() { try(i) } })
	}
}

package display

import "testing"

func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 10239: "10239 B", 10240: "10 KiB", 5 << 30: "5120 MiB", 1 << 63: "8192 PiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

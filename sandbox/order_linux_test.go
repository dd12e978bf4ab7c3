package sandbox

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOrdersSurviveTheSocket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) })
		o := order{
			argv: rapid.SliceOf(text).Draw(t, "argv"), env: rapid.SliceOf(text).Draw(t, "env"), dir: text.Draw(t,
				"dir"),
			mounts: rapid.SliceOf(rapid.Map(text, func(s string) mount { return mount{mountWrite, s, s, s} })).Draw(t,
				"mounts"),
			own: rapid.Bool().Draw(t, "own"), network: rapid.Bool().Draw(t, "network"),
			bare: rapid.Bool().Draw(t, "bare"), outer: rapid.Bool().Draw(t, "outer"), private: text.Draw(t,
				"private"), level: rapid.IntMin(0).Draw(t, "level"),
			scratch: rapid.Int64Min(0).Draw(t, "scratch"), procs: rapid.Int64Min(0).Draw(t, "procs"),
			secretFD: rapid.IntMin(0).Draw(t, "secretFD"),
		}
		if secret := text.Draw(t, "secret"); secret != "" {
			o.secret = []byte(secret)
		}
		b := o.encode()
		got, err := decodeOrder(b)
		if err != nil || !reflect.DeepEqual(got, o) {
			t.Fatalf("%v\n%+v\n%+v", err, got, o)
		}
		if _, err := decodeOrder(b[:len(b)-1]); err == nil {
			t.Fatal("a cut order was taken")
		}
		if _, err := decodeOrder(append(b, 0)); err == nil {
			t.Fatal("an order with a tail was taken")
		}
	})
}

func FuzzDecodeOrder(f *testing.F) {
	o := order{argv: []string{"a"}, env: []string{"b=c"}, dir: "/", mounts: []mount{{mountRead, "/x", "", "/y"}}}
	f.Add(o.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := decodeOrder(b)
		if err != nil {
			return
		}
		again, err := decodeOrder(o.encode())
		if err != nil || !reflect.DeepEqual(o, again) {
			t.Fatal(o, again, err)
		}
	})
}

func TestAMessageMayNotBeHuge(t *testing.T) {
	if _, _, err := receive(bytes.NewReader([]byte{msgOrder, 0xff, 0xff, 0xff, 0xff})); err == nil {
		t.Error("four gigabytes were accepted")
	}
}

func TestGroupsAreFoundInBothHierarchies(t *testing.T) {
	const info = `30 24 0:26 / /sys/fs/cgroup/pids rw,relatime shared:9 - cgroup cgroup rw,pids
31 24 0:27 /outer /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
32 24 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu`
	for _, c := range []struct{ controllers, path, want, dir string }{
		{"pids", "/", "pids", "/sys/fs/cgroup/pids"},
		{"pids", "/a/b", "pids", "/sys/fs/cgroup/pids/a/b"},
		{"memory", "/outer/in", "memory", "/sys/fs/cgroup/memory/in"},
		{"memory", "/elsewhere", "memory", ""},
		{"cpu", "/", "pids", ""},
		{"name=systemd", "/", "pids", ""},
	} {
		if dir, ok := groupDir(info, c.controllers, c.path, c.want); dir != c.dir || ok != (c.dir != "") {
			t.Errorf("%+v: %q", c, dir)
		}
	}
	if got := strings.Join(groups{"pids": "x", "memory": "y"}.controllers(), " "); got != "memory pids" {
		t.Error(got)
	}
}

package deps

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// look is what was found of a folder's platform, and when the folder was last changed by then.
type look struct {
	changed time.Time
	detail  string
}

// foreign says why a folder is of no use on this machine, "" when it may be of use.
func (f *Finder) foreign(d Folder) string {
	switch {
	case d.Environment:
		return goneInterpreter(d.From)
	case d.Ecosystem != Node:
		return ""
	}
	info, err := os.Lstat(d.From)
	if err != nil {
		return ""
	}
	f.mu.Lock()
	known, ok := f.looks[d.From]
	f.mu.Unlock()
	if ok && known.changed.Equal(info.ModTime()) {
		return known.detail
	}
	known = look{info.ModTime(), otherPlatform(packageNames(d.From))}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.looks == nil || len(f.looks) > 1000 {
		f.looks = map[string]look{}
	}
	f.looks[d.From] = known
	return known.detail
}

// goneInterpreter names the interpreter of a virtual environment that is not there.
func goneInterpreter(dir string) string {
	for _, name := range []string{"python", "python3"} {
		p := filepath.Join(dir, "bin", name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			return ""
		}
	}
	p := filepath.Join(dir, "bin", "python")
	if to, err := os.Readlink(p); err == nil {
		return p + " -> " + to
	}
	return p
}

// packageNames lists the packages that stand in a folder, by their names, without entering any: those of a scope and
// those in the store of pnpm as well.
func packageNames(dir string) []string {
	var out []string
	for _, e := range readNames(dir) {
		switch {
		case strings.HasPrefix(e, "@"):
			for _, sub := range readNames(filepath.Join(dir, e)) {
				out = append(out, e+"/"+sub)
			}
		case e == ".pnpm":
			for _, sub := range readNames(filepath.Join(dir, e)) {
				// @scope+name@version, with the versions of its peers behind it
				scope := ""
				if strings.HasPrefix(sub, "@") {
					scope, sub = "@", sub[1:]
				}
				name, _, _ := strings.Cut(sub, "@")
				out = append(out, scope+strings.Replace(name, "+", "/", 1))
			}
		case !strings.HasPrefix(e, "."):
			out = append(out, e)
		}
	}
	return out
}

func readNames(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(100_000)
	return names
}

// native matches the name of a package that holds a program or a library for one platform.
var native = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.*?)[-_./](linux|darwin|win32|windows|freebsd|android)-(x64|64|arm64|ia32|32|arm|riscv64|ppc64|s390x|loong64)(?:[-.](gnu|glibc|musl|gnueabihf|musleabihf|msvc))?$`)
})

// otherPlatform names a package that is there for other platforms only.
func otherPlatform(names []string) string {
	fits, example := map[string]bool{}, map[string]string{}
	for _, n := range names {
		m := native().FindStringSubmatch(n)
		if m == nil {
			continue
		}
		fits[m[1]] = fits[m[1]] || ours(m[2], m[3], m[4])
		if example[m[1]] == "" || n < example[m[1]] {
			example[m[1]] = n
		}
	}
	var foreign []string
	for base, ok := range fits {
		if !ok {
			foreign = append(foreign, example[base])
		}
	}
	slices.Sort(foreign)
	if len(foreign) == 0 {
		return ""
	}
	return foreign[0]
}

// ours reports whether a platform in Node's words is this machine's.
func ours(system, arch, libc string) bool {
	want := map[string]string{"windows": "win32"}[runtime.GOOS]
	if want == "" {
		want = runtime.GOOS
	}
	if system == "windows" {
		system = "win32"
	}
	cpu := map[string][]string{"amd64": {"x64", "64"}, "386": {"ia32", "32"}}[runtime.GOARCH]
	if cpu == nil {
		cpu = []string{runtime.GOARCH}
	}
	return system == want && slices.Contains(cpu, arch) && (libc != "musl" && libc != "musleabihf" || musl())
}

// musl reports whether the machine's C library may be musl.
var musl = sync.OnceValue(func() bool {
	found, _ := filepath.Glob("/lib/ld-musl-*")
	return len(found) > 0
})

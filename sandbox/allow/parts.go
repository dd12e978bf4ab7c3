package allow

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Part is a path that commands may read, or one that is hidden although a part around it is readable. Later parts win.
type Part struct {
	Path   string
	Hidden bool
}

// System hides all that is below / but what is listed.
func System() []Part {
	var out []Part
	entries, _ := os.ReadDir("/")
	for _, e := range entries {
		if p := "/" + e.Name(); e.Type()&os.ModeSymlink == 0 && !slices.Contains(whole, p) {
			out = append(out, Part{p, true})
		}
	}
	out = append(out, Part{"/usr/local", true})
	for _, p := range SystemPlaces {
		out = append(out, parts(p.Dir, p.Parts)...)
	}
	for _, pattern := range []string{"/opt/*", "/usr/local/*"} {
		roots, _ := filepath.Glob(pattern)
		for _, root := range roots {
			found := Installed(root)
			if opt := strings.HasPrefix(root, "/opt/"); opt && found == nil {
				if found = parts(root, prefixParts); found == nil { // a vendor's directory
					found = below(root)
				}
			}
			out = append(out, found...)
		}
	}
	return out
}

// below are the parts of each package in a vendor's directory.
func below(vendor string) []Part {
	var out []Part
	entries, _ := os.ReadDir(vendor)
	for _, e := range entries {
		root := filepath.Join(vendor, e.Name())
		if found := Installed(root); found != nil {
			out = append(out, found...)
		} else {
			out = append(out, parts(root, prefixParts)...)
		}
	}
	return out
}

// Home hides a home but for the parts of toolchains. A service may have a system directory for its home.
func Home(dir string) []Part {
	var out []Part
	if !slices.ContainsFunc(whole, func(w string) bool { return within(dir, w) }) {
		out = append(out, Part{dir, true})
	}
	for _, p := range Toolchains {
		if p.Dir != "" {
			out = append(out, parts(filepath.Join(dir, p.Dir), p.Parts)...)
		}
	}
	return out
}

// Variable is what commands may read of the directory that a variable names.
func Variable(name, dir string) []Part {
	for _, p := range Toolchains {
		if p.Variable == name {
			return parts(dir, p.Parts)
		}
	}
	return nil
}

// ProgramDir reports whether a directory is one that holds nothing but programs, by its name.
func ProgramDir(dir string) bool {
	return filepath.Dir(dir) != "/" && slices.Contains([]string{"bin", "sbin", ".bin", "shims"}, filepath.Base(dir))
}

// Program is a program, and its package if its path or a marker tells where that begins.
func Program(p string) []Part {
	out := []Part{{Path: p}}
	names := strings.Split(p, "/")
	for i, name := range names[:len(names)-1] {
		if more, ok := packageRoots[name]; ok && i+more < len(names)-1 {
			return append(out, Part{Path: strings.Join(names[:i+more+1], "/")})
		}
	}
	if dir := filepath.Dir(p); filepath.Base(dir) == "bin" {
		out = append(out, Installed(filepath.Dir(dir))...)
	} else if strings.HasPrefix(dir, "/opt/") && strings.Count(dir, "/") > 2 { // a vendor's package
		out = append(out, Part{Path: dir})
	}
	return out
}

// Installed are the parts of a directory that a marker tells to be one of installed software, nil for another one.
func Installed(root string) []Part {
	var out []Part
	for _, p := range packages {
		if found, _ := fs.Glob(os.DirFS(root), p.marker); len(found) > 0 {
			out = append(out, parts(root, prefixParts+" "+p.parts)...)
		}
	}
	return out
}

// parts are those of a directory that are there (Place.Parts).
func parts(dir, list string) []Part {
	var out []Part
	for part := range strings.FieldsSeq(list) {
		found, _ := fs.Glob(os.DirFS(dir), strings.TrimLeft(part, "!?"))
		for _, name := range found {
			if p := filepath.Join(dir, name); part[0] != '?' || harmless(p) {
				out = append(out, Part{p, part[0] == '!'})
			}
		}
	}
	return out
}

// MaxConfig bounds a configuration file that is read for its secrets.
const MaxConfig = 1 << 20

// bareLogin matches a user and a password before a host, as in an address without a scheme.
var bareLogin = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\s/:"'@]:[^\s/:"'@]+@`) })

// harmless reports whether a configuration file names nothing that is secret.
func harmless(p string) bool {
	raw, err := os.ReadFile(p)
	return err == nil && len(raw) <= MaxConfig && !HasUserinfo(string(raw)) && !Secretive(string(raw)) &&
		!bareLogin().Match(raw)
}

package settings

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"pawl/text/display"

	"go.yaml.in/yaml/v4"

	"pawl"
	"pawl/store/disk"
)

// MaxFile bounds a configuration file, in bytes.
const MaxFile = 256 << 10

// ProjectFile is the file of a workspace. It comes with the repository, so it may set only what cannot harm its user.
// It is "" for no workspace.
func ProjectFile(workspace string) string {
	if workspace == "" {
		return ""
	}
	return filepath.Join(workspace, ".pawl", "config.yaml")
}

// UserFile is the user's own file, or "" when the environment names no home.
func UserFile(env func(string) string) string {
	if dir := env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pawl", "config.yaml")
	}
	if home := env("HOME"); home != "" {
		return filepath.Join(home, ".config", "pawl", "config.yaml")
	}
	if dir := env("APPDATA"); dir != "" {
		return filepath.Join(dir, "pawl", "config.yaml")
	}
	return ""
}

// Load reads the settings for a workspace: defaults, the user's file, the project's file, the environment. Flags are
// put on top by the commands that have them.
func Load(env func(string) string, workspace string) (Config, error) {
	c := Default()
	c.sources = map[string]string{}
	c.File = UserFile(env)
	if err := c.read(c.File, false); err != nil {
		return c, err
	}
	if err := c.read(ProjectFile(workspace), true); err != nil {
		return c, err
	}
	for _, s := range all() {
		v := env(s.env())
		if v == "" {
			continue
		}
		values := []string{v}
		if s.List {
			values = strings.FieldsFunc(v, func(r rune) bool { return r == ',' })
			for i := range values {
				values[i] = strings.TrimSpace(values[i])
			}
		}
		if err := s.set(&c, values); err != nil {
			return c, pawl.Fail(pawl.CodeInvalid, "cli.config_at", s.env(), s.Name).In("cli.config").Because(err)
		}
		c.sources[s.Name] = s.env()
	}
	return c, nil
}

// read puts the settings of a file into c. A file that does not exist changes nothing.
func (c *Config) read(path string, project bool) error {
	if path == "" {
		return nil
	}
	data, err := ReadFile(path, MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "cli.config_unreadable", path).In("cli.config").Because(err)
	}
	return c.decode(path, data, project)
}

// Open opens a regular file to read. Anything else is CodeInvalid: a pipe or a device may never end, and opening a pipe
// would wait for its writer.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = pawl.Fail(pawl.CodeInvalid, "cli.file_irregular", path)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// ReadFile reads a regular file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAtMost(f, path, limit)
}

// Decode reads what a configuration file alone sets, on top of the defaults. Path names the file in errors, and project
// says that it is a workspace's, which may set less.
func Decode(path string, data []byte, project bool) (Config, error) {
	c := Default()
	c.sources = map[string]string{}
	err := c.decode(path, data, project)
	if err == nil && len(c.Ignored) > 0 {
		err = c.Ignored[0]
	}
	return c, err
}

// decode reads a file's contents strictly: every name must be a setting, and every value of its form. What a project
// may not set is ignored: a repository cannot loosen the user's settings, and must not block its user's commands.
func (c *Config) decode(path string, data []byte, project bool) error {
	d := &configReader{config: c, path: path, project: project}
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return pawl.Fail(pawl.CodeInvalid, "cli.config_syntax",
			path).In("cli.config").Because(errors.New(display.Line(err.Error())))
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil
	}
	return d.mapping("", doc.Content[0])
}

// configReader walks over a file's nodes.
type configReader struct {
	config  *Config
	path    string
	project bool
}

func (d *configReader) fail(n *yaml.Node, name string, cause error) error {
	code := pawl.CodeInvalid
	if pawl.CodeOf(cause) == pawl.CodeDenied {
		code = pawl.CodeDenied
	}
	return pawl.Fail(code, "cli.config_at", place(d.path, n), display.Line(name)).In("cli.config").Because(cause)
}

func place(path string, n *yaml.Node) string {
	return path + ":" + strconv.Itoa(n.Line) + ":" + strconv.Itoa(n.Column)
}

func (d *configReader) mapping(prefix string, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return d.fail(n, strings.TrimSuffix(prefix, "."), pawl.Fail(pawl.CodeInvalid, "cli.config_mapping"))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := prefix + key.Value
		if key.Kind != yaml.ScalarNode || seen[name] {
			return d.fail(key, name, pawl.Fail(pawl.CodeInvalid, "cli.config_twice"))
		}
		seen[name] = true
		if err := d.entry(name, key, value); err != nil {
			return err
		}
	}
	return nil
}

func (d *configReader) entry(name string, key, value *yaml.Node) error {
	s, err := Find(name)
	if err != nil {
		if hasSection(name) {
			return d.mapping(name+".", value)
		}
		return d.fail(key, name, err)
	}
	values, err := d.values(s, value)
	if err != nil {
		return err
	}
	if d.project {
		old := s.get(d.config)
		if !s.project(old, values) {
			d.config.Ignored = append(d.config.Ignored,
				d.fail(value, name, pawl.Fail(pawl.CodeDenied, "cli.config_user_only", d.config.File)))
			return nil
		}
		if s.adds {
			values = slices.Compact(slices.Sorted(slices.Values(slices.Concat(old, values))))
		}
	}
	if err := s.set(d.config, values); err != nil {
		return d.fail(value, name, err)
	}
	d.config.sources[name] = place(d.path, value)
	return nil
}

// values reads a scalar, or a list of scalars.
func (d *configReader) values(s Setting, n *yaml.Node) ([]string, error) {
	if !s.List {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			return nil, d.fail(n, s.Name, pawl.Fail(pawl.CodeInvalid, "cli.config_scalar"))
		}
		return []string{n.Value}, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, d.fail(n, s.Name, pawl.Fail(pawl.CodeInvalid, "cli.config_list"))
	}
	out := []string{}
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" || item.Value == "" {
			return nil, d.fail(item, s.Name, pawl.Fail(pawl.CodeInvalid, "cli.config_scalar"))
		}
		out = append(out, item.Value)
	}
	return out, nil
}

func settingNames() []string {
	var out []string
	for _, s := range all() {
		out = append(out, s.Name)
	}
	return out
}

// hasSection reports whether settings stand below a name.
func hasSection(name string) bool {
	if serverSection(name) || installedSection(name) || noticeSection(name) {
		return true
	}
	for _, s := range all() {
		if strings.HasPrefix(s.Name, name+".") {
			return true
		}
	}
	return false
}

// ReadAtMost reads r to its end, at most limit bytes.
func ReadAtMost(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = pawl.Fail(pawl.CodeInvalid, "cli.file_large", name, limit)
	}
	return data, err
}

// edited returns a configuration file with one setting changed, or without it where no values are given. Everything
// else, comments included, stays; a section that loses its last setting goes with it.
func edited(data []byte, s Setting, values []string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	if parts := strings.Split(s.Name, "."); len(values) == 0 {
		without(doc.Content[0], parts)
	} else {
		at := doc.Content[0]
		for _, part := range parts[:len(parts)-1] {
			if at = entryOf(at, part); at.Kind != yaml.MappingNode {
				*at = yaml.Node{Kind: yaml.MappingNode}
			}
		}
		last := entryOf(at, parts[len(parts)-1])
		*last = *node(s, values, last)
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(&doc); err != nil {
		return nil, err
	}
	return out.Bytes(), e.Close()
}

// entryOf returns the value under a key of a mapping, which is made where there is none.
func entryOf(at *yaml.Node, key string) *yaml.Node {
	for n := 0; n+1 < len(at.Content); n += 2 {
		if at.Content[n].Value == key {
			return at.Content[n+1]
		}
	}
	made := &yaml.Node{Kind: yaml.MappingNode}
	at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, made)
	return made
}

// without takes out what stands under a path of keys, and each section above it that holds nothing then, not even a
// comment.
func without(at *yaml.Node, path []string) {
	for n := 0; at.Kind == yaml.MappingNode && n+1 < len(at.Content); n += 2 {
		if at.Content[n].Value != path[0] {
			continue
		}
		if child := at.Content[n+1]; len(path) > 1 {
			if without(child, path[1:]); child.Kind != yaml.MappingNode || len(child.Content) > 0 ||
				commented(at.Content[n]) || commented(child) {
				return
			}
		}
		at.Content = slices.Delete(at.Content, n, n+2)
		return
	}
}

func commented(n *yaml.Node) bool { return n.HeadComment+n.LineComment+n.FootComment != "" }

// Vacant reports whether a configuration file holds nothing that could be lost: no setting and no comment, such as what
// is left of one whose settings were taken out.
func Vacant(data []byte) bool {
	if bytes.ContainsRune(data, '#') {
		return false
	}
	var doc yaml.Node
	return yaml.Unmarshal(data, &doc) == nil && bare(&doc)
}

// bare reports whether a node holds nothing but sections that hold nothing.
func bare(n *yaml.Node) bool {
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Tag == "!!null"
	case yaml.SequenceNode, yaml.AliasNode:
		return false
	case yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			if !bare(n.Content[i]) {
				return false
			}
		}
		return true
	}
	return !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !bare(c) })
}

// node writes the values of a setting, with the comments of what stood there.
func node(s Setting, values []string, old *yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: yaml.ScalarNode, HeadComment: old.HeadComment, LineComment: old.LineComment,
		FootComment: old.FootComment}
	if !s.List {
		out.SetString(values[0])
		out.Style = 0
		return out
	}
	out.Kind = yaml.SequenceNode
	for _, v := range values {
		item := &yaml.Node{Kind: yaml.ScalarNode}
		item.SetString(v)
		out.Content = append(out.Content, item)
	}
	return out
}

// Change sets one setting in the user's file, or takes it out. The file as it will be is checked before it replaces the
// old one, so that a mistake changes nothing.
func (c *Config) Change(s Setting, values []string) error {
	path := c.File
	if path == "" {
		return pawl.Fail(pawl.CodeEnvironment, "cli.config_no_home").In("cli.config")
	}
	data, err := ReadFile(path, MaxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(values) == 0:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return pawl.Fail(pawl.CodeIO, "cli.config_unreadable", path).In("cli.config").Because(err)
	}
	if data, err = edited(data, s, values); err != nil {
		return pawl.Fail(pawl.CodeInvalid, "cli.config_syntax",
			path).In("cli.config").Because(errors.New(display.Line(err.Error())))
	}
	next, err := Decode(path, data, false)
	if err != nil {
		return err
	}
	if len(values) > 0 && strings.HasPrefix(s.Name, "policy.") {
		if err := next.Profile.Validate(); err != nil {
			return err
		}
	}
	if channel, field, _ := strings.Cut(strings.TrimPrefix(s.Name, noticePrefix), "."); len(values) > 0 {
		if err := next.Notices[channel].check(channel, field); err != nil {
			return err
		}
	}
	if len(values) == 0 && Vacant(data) {
		data = nil // what is left of an empty file is an empty file, and no mapping without names
	}
	return ReplaceFile(path, data)
}

// ReplaceFile writes a file of the user's beside the old one and puts it in its place, so that no reader sees half of
// it.
func ReplaceFile(path string, data []byte) error {
	fail := func(err error) error {
		return pawl.Fail(pawl.CodeIO, "cli.file_unwritten", path).In("cli.config").Because(err)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a link to a file that is kept elsewhere stays one
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fail(err)
	}
	if err := disk.WriteFile(path, data); err != nil {
		return fail(err)
	}
	return nil
}

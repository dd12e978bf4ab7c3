package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// install runs the script on a program that is a stub.
func install(t *testing.T, setting, path string) (string, string) {
	t.Helper()
	dir := t.TempDir()
	program, prefix, knob := filepath.Join(dir, "pawl"), filepath.Join(dir, "a prefix"), filepath.Join(dir, "setting")
	for name, text := range map[string]string{program: "#!/bin/sh\necho \"profile for $0 $*\"\n", knob: setting} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var out []byte
	for range 2 { // the second time over the first
		cmd := exec.Command("./install.sh", program)
		cmd.Env = []string{"PATH=" + path, "PREFIX=" + prefix, "HOME=" + dir, "PAWL_APPARMOR_SETTING=" + knob}
		var err error
		if out, err = cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	info, err := os.Stat(filepath.Join(prefix, "bin", "pawl"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Fatal(info, err)
	}
	if left, err := os.ReadDir(filepath.Join(prefix, "bin")); len(left) != 1 {
		t.Error(left, err)
	}
	return string(out), prefix
}

func TestInstallOffersTheProfileWhereItIsNeeded(t *testing.T) {
	out, prefix := install(t, "1\n", "/usr/bin:/bin")
	for _, want := range []string{"installed: " + prefix + "/bin/pawl\n", "not on your PATH yet", "    profile for " + prefix + "/bin/pawl doctor --apparmor\n", "apparmor_parser -r /etc/apparmor.d/pawl"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out, _ := install(t, "0\n", "/usr/bin:/bin"); strings.Contains(out, "AppArmor") {
		t.Error(out)
	}
}

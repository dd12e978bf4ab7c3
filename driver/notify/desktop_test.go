package notify

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"pawl"
	"pawl/internal/need"
	"pawl/kernel/effect"
	"pawl/kernel/notices"
)

// bus is a session bus of the test's own, on which python-dbusmock plays the desktop.
func bus(t *testing.T) (address string, mock dbus.BusObject) {
	t.Helper()
	daemon := exec.Command(need.Program(t, "dbus-daemon"), "--session", "--nofork", "--print-address",
		"--address=unix:dir="+t.TempDir())
	out, err := daemon.StdoutPipe()
	if err == nil {
		err = daemon.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(line)
	desktop := exec.Command(need.Python(t, "dbusmock"), "-m", "dbusmock", "--template", "notification_daemon")
	desktop.Env = append(desktop.Environ(), "DBUS_SESSION_BUS_ADDRESS="+address)
	if err := desktop.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = desktop.Process.Kill(); _ = desktop.Wait() })
	c, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	mock = c.Object(busName, busPath)
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var can []string
		if err = mock.Call(busName+".GetCapabilities", 0).Store(&can); err == nil {
			return address, mock
		}
		if time.Now().After(until) {
			t.Fatalf("python-dbusmock does not answer (make setup installs it): %v", err)
		}
	}
}

// TestDesktop: a message is shown once, as text, and is taken off again.
func TestDesktop(t *testing.T) {
	address, mock := bus(t)
	d := driver(Channel{Kind: notices.Desktop}, "")
	d.Getenv = func(name string) string { return map[string]string{"DBUS_SESSION_BUS_ADDRESS": address}[name] }
	sent := d.Do(t.Context(), message())
	if !sent.OK {
		t.Fatal(sent.Err())
	}
	did, err := effect.Decode[effect.NoticeResult](sent.Result)
	if err != nil || did.Handle == "" {
		t.Fatalf("%+v %v", did, err)
	}
	for range 2 { // a second time does no harm
		if back := d.Withdraw(t.Context(), message(), did.Handle); !back.OK {
			t.Error(back.Err())
		}
	}
	type call struct {
		Time int64
		Name string
		Args []dbus.Variant
	}
	var calls []call
	if err := mock.Call("org.freedesktop.DBus.Mock.GetCalls", 0).Store(&calls); err != nil {
		t.Fatal(err)
	}
	names := map[string]int{}
	for _, c := range calls {
		if names[c.Name]++; c.Name == "Notify" {
			if body, _ := c.Args[4].Value().(string); strings.Contains(body, "<!channel>") || !strings.Contains(body, "third") {
				t.Errorf("%q", body)
			}
		}
	}
	if names["Notify"] != 1 || names["CloseNotification"] == 0 {
		t.Errorf("%v", names)
	}
}

// TestNoDesktop: where there is no bus, none is started and nothing is sent.
func TestNoDesktop(t *testing.T) {
	d := driver(Channel{Kind: notices.Desktop}, "")
	for _, at := range []string{"", "unix:path=" + t.TempDir() + "/none"} {
		d.Getenv = func(name string) string { return map[string]string{"DBUS_SESSION_BUS_ADDRESS": at}[name] }
		if sent := d.Do(t.Context(), message()); sent.Code != pawl.CodeEnvironment || sent.Key != "notify.no_bus" {
			t.Errorf("%q: %+v", at, sent.Receipt)
		}
	}
}

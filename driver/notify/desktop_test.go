package notify

import (
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"pawl"
	"pawl/internal/noticetest"
	"pawl/kernel/effect"
	"pawl/kernel/notices"
)

// TestDesktop: a message is shown once, as text, and is taken off again.
func TestDesktop(t *testing.T) {
	address, mock := noticetest.Bus(t, busName, busPath)
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

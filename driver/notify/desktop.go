package notify

import (
	"context"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/godbus/dbus/v5"

	"pawl"
	"pawl/kernel/effect"
	"pawl/kernel/notices"
)

// The service of the desktop (https://specifications.freedesktop.org/notification-spec).
const (
	busName = "org.freedesktop.Notifications"
	busPath = "/org/freedesktop/Notifications"
)

// bus connects to the session bus that is there. None is started.
func (d *Driver) bus(ctx context.Context) (*dbus.Conn, error) {
	at := d.getenv("DBUS_SESSION_BUS_ADDRESS")
	if dir := d.getenv("XDG_RUNTIME_DIR"); at == "" && dir != "" {
		if path := filepath.Join(dir, "bus"); exists(path) {
			at = "unix:path=" + path
		}
	}
	if at == "" {
		return nil, pawl.Fail(pawl.CodeEnvironment, "notify.no_bus")
	}
	c, err := dbus.Connect(at, dbus.WithContext(ctx))
	if err != nil {
		return nil, pawl.Fail(pawl.CodeEnvironment, "notify.no_bus").Because(err)
	}
	return c, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// show shows a message on the desktop.
func (d *Driver) show(ctx context.Context, s *effect.NoticeSpec) (effect.NoticeResult, error) {
	c, err := d.bus(ctx)
	if err != nil {
		return effect.NoticeResult{}, err
	}
	defer c.Close()
	object := c.Object(busName, busPath)
	var can []string
	if err := object.CallWithContext(ctx, busName+".GetCapabilities", 0).Store(&can); err != nil {
		return effect.NoticeResult{}, pawl.Fail(pawl.CodeEnvironment, "notify.no_desktop").Because(err)
	}
	body := text(s)
	if slices.Contains(can, "body-markup") {
		body = html.EscapeString(body)
	}
	urgency := map[string]byte{string(pawl.RiskHigh): 2}[s.Risk]
	var id uint32
	err = object.CallWithContext(ctx, busName+".Notify", 0, "pawl", uint32(0), "", s.Title, body, []string{},
		map[string]dbus.Variant{"urgency": dbus.MakeVariant(max(urgency, 1))}, int32(-1)).Store(&id)
	if _, said := err.(dbus.Error); err != nil && !said {
		return effect.NoticeResult{}, pawl.Fail(pawl.CodeOutcomeUnknown, "notify.unknown", notices.Desktop).Because(err)
	} else if err != nil {
		return effect.NoticeResult{}, pawl.Fail(pawl.CodeEnvironment, "notify.no_desktop").Because(err)
	}
	return effect.NoticeResult{Handle: strconv.FormatUint(uint64(id), 10)}, nil
}

// close takes a message off the desktop. One that the person closed is gone already.
func (d *Driver) close(ctx context.Context, handle string) error {
	id, err := strconv.ParseUint(handle, 10, 32)
	if err != nil {
		return pawl.Fail(pawl.CodeInvalid, "notify.no_desktop").Because(err)
	}
	c, err := d.bus(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	err = c.Object(busName, busPath).CallWithContext(ctx, busName+".CloseNotification", 0, uint32(id)).Err
	if _, said := err.(dbus.Error); err == nil || said {
		return nil
	}
	return pawl.Fail(pawl.CodeEnvironment, "notify.no_desktop").Because(err)
}

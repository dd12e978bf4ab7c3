// Package keyring reads secrets from the keyring of the user's system, with the program that the system has for it:
// secret-tool on Linux, security on macOS. Like the user's editor it runs without walls, because it has to reach the
// session that holds the keyring; it belongs to the system, and nothing that an agent or a project says becomes part of
// its arguments.
package keyring

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"pawl"
	"pawl/sandbox"
)

// limit bounds one question: a locked keyring asks the person to open it first.
const limit = time.Minute

// maxSecret bounds a secret, in bytes.
const maxSecret = 8 << 10

// tool is the program of one system.
type tool struct {
	name string
	// read are the arguments that print the secret of a service and an account, and keep is the command that puts it
	// there.
	read       func(service, account string) []string
	keep, from string
}

// tools are the programs by the name of the system in Go.
var tools = map[string]tool{
	"linux": {
		name: "secret-tool", from: "libsecret-tools",
		read: func(service, account string) []string {
			return []string{"lookup", "service", service, "username", account}
		},
		keep: "secret-tool store --label=pawl service %s username %s",
	},
	"darwin": {
		name: "security", from: "macOS",
		read: func(service, account string) []string {
			return []string{"find-generic-password", "-s", service, "-a", account, "-w"}
		},
		keep: "security add-generic-password -s %s -a %s -w",
	},
}

// Read returns the secret of an entry, SERVICE/ACCOUNT. The account is what follows the last slash. CodeInvalid says
// that this is no entry, CodeEnvironment that the system has no keyring that pawl can ask or lacks its program, and
// CodeLogin that the keyring has no such entry or is not opened. The secret is kept nowhere, and no error shows it.
func Read(ctx context.Context, entry string) (string, error) { return read(ctx, runtime.GOOS, entry) }

func read(ctx context.Context, system, entry string) (string, error) {
	service, account, err := split(entry)
	if err != nil {
		return "", err
	}
	t, ok := tools[system]
	if !ok {
		return "", pawl.Fail(pawl.CodeEnvironment, "sandbox.keyring_none", system).In("keyring.Read")
	}
	path, ok := sandbox.LookPath(t.name)
	if !ok {
		return "", pawl.Fail(pawl.CodeEnvironment, "sandbox.keyring_tool", t.name, t.from).In("keyring.Read")
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, t.read(service, account)...)
	var out, complaint beginning
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.WaitDelay = time.Second // for what the program may have left behind with its streams open
	err = cmd.Run()
	secret := strings.TrimRight(string(out.kept), "\r\n")
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case out.over:
		err = errors.New("the entry is too long")
	case err != nil && len(complaint.kept) > 0:
		err = errors.New(strings.Join(strings.Fields(string(complaint.kept)), " "))
	case err == nil && secret == "":
		err = errors.New("the entry is empty")
	}
	if err != nil {
		return "", pawl.Fail(pawl.CodeLogin, "sandbox.keyring_secret", entry,
			keeping(t, service, account)).Because(err).In("keyring.Read")
	}
	return secret, nil
}

// split takes an entry apart. What could be taken for an option, or does not belong on a line, is refused.
func split(entry string) (service, account string, err error) {
	at := strings.LastIndexByte(entry, '/')
	if at > 0 {
		service, account = entry[:at], entry[at+1:]
	}
	odd := strings.ContainsFunc(entry, func(r rune) bool { return r < ' ' || r == 0x7f })
	if service == "" || account == "" || service[0] == '-' || account[0] == '-' || odd || len(entry) > 512 {
		return "", "", pawl.Fail(pawl.CodeInvalid, "sandbox.keyring_entry", entry).In("keyring.Read")
	}
	return service, account, nil
}

// keeping is the command that puts a secret where it is looked for.
func keeping(t tool, service, account string) string {
	return strings.Replace(strings.Replace(t.keep, "%s", word(service), 1), "%s", word(account), 1)
}

// word is a text as one word of a shell.
func word(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@+-", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// beginning keeps the beginning of what is written, and whether there was more.
type beginning struct {
	kept []byte
	over bool
}

// Write implements io.Writer.
func (b *beginning) Write(p []byte) (int, error) {
	room := maxSecret - len(b.kept)
	b.over = b.over || len(p) > room
	b.kept = append(b.kept, p[:min(len(p), room)]...)
	return len(p), nil
}

package sshagent

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/pem"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"pawl"
)

// Namespace is what the signatures of security keys are for, so that one that was given for something else counts for
// nothing here (`ssh-keygen -Y verify -n pawl-decision`).
const Namespace = "pawl-decision"

// SecurityKey is the public half of a key in hardware that signs only when somebody touches it, and whose signatures
// say so. Any program of the user's can have an agent sign with any other key.
type SecurityKey struct{ public ssh.PublicKey }

// ParseSecurityKey reads a public key in the form of OpenSSH: the one line of a .pub file.
func ParseSecurityKey(text string) (SecurityKey, error) {
	public, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(text))
	switch {
	case err != nil:
		return SecurityKey{}, pawl.Fail(pawl.CodeInvalid, "key.malformed").Because(err)
	case len(bytes.TrimSpace(rest)) > 0:
		return SecurityKey{}, pawl.Fail(pawl.CodeInvalid, "key.several")
	case public.Type() != ssh.KeyAlgoSKED25519 && public.Type() != ssh.KeyAlgoSKECDSA256:
		return SecurityKey{}, pawl.Fail(pawl.CodeInvalid, "key.no_presence", public.Type())
	}
	return SecurityKey{public}, nil
}

// String is the key in the form of OpenSSH, without a comment.
func (s SecurityKey) String() string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.public)))
}

// Fingerprint is what ssh-add -l prints: SHA256:….
func (s SecurityKey) Fingerprint() string { return ssh.FingerprintSHA256(s.public) }

// form and digest are the number of the form of a signature, and the name of what hashes the text before it is signed
// (OpenSSH, PROTOCOL.sshsig). magic stands before both what is signed and the signature.
const (
	magic  = "SSHSIG"
	form   = 1
	digest = "sha512"
)

// signable is what is signed of a text.
func signable(text string) []byte {
	sum := sha512.Sum512([]byte(text))
	return append([]byte(magic), ssh.Marshal(struct {
		Namespace, Reserved, Digest string
		Sum                         []byte
	}{Namespace, "", digest, sum[:]})...)
}

// sealed is a signature with the key that it is of.
type sealed struct {
	Form                        uint32
	Key                         []byte
	Namespace, Reserved, Digest string
	Signature                   []byte
}

// armor is what the text form of a signature is called.
const armor = "SSH SIGNATURE"

// Sign has the agent at a socket sign a text, which waits for a touch of the key, and returns the signature in the text
// form of OpenSSH. One that does not verify is an error.
func (s SecurityKey) Sign(ctx context.Context, socket, setting, text string) (string, error) {
	k := Key{Socket: socket, Fingerprint: s.Fingerprint(), Setting: setting}
	signed, err := k.signature(ctx, signable(text), func(*agent.Key) error { return nil })
	if err != nil {
		return "", err
	}
	raw := ssh.Marshal(sealed{form, s.public.Marshal(), Namespace, "", digest, ssh.Marshal(signed)})
	out := string(pem.EncodeToMemory(&pem.Block{Type: armor, Bytes: append([]byte(magic), raw...)}))
	return out, s.Verify(text, out)
}

// userPresent is the flag of a signature that somebody touched the key (OpenSSH, PROTOCOL.u2f).
const userPresent = 1

// Verify refuses what is no signature of this key over the text, or one for which nobody touched the key.
func (s SecurityKey) Verify(text, signature string) error {
	wrong := pawl.Fail(pawl.CodeDenied, "key.wrong", s.Fingerprint())
	block, rest := pem.Decode([]byte(signature))
	if block == nil || block.Type != armor || len(rest) > 0 {
		return wrong
	}
	raw, ok := bytes.CutPrefix(block.Bytes, []byte(magic))
	var in sealed
	var signed ssh.Signature
	if !ok || ssh.Unmarshal(raw, &in) != nil || ssh.Unmarshal(in.Signature, &signed) != nil || in.Form != form ||
		in.Namespace != Namespace || in.Digest != digest || !bytes.Equal(in.Key, s.public.Marshal()) {
		return wrong
	}
	if len(signed.Rest) == 0 || signed.Rest[0]&userPresent == 0 {
		return pawl.Fail(pawl.CodeDenied, "key.untouched", s.Fingerprint())
	}
	if err := s.public.Verify(signable(text), &signed); err != nil {
		return wrong.Because(err)
	}
	return nil
}

package message

// sandboxText is the part of the catalogue for keys that begin with "sandbox.".
var sandboxText = Table{}

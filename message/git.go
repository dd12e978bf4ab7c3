package message

// gitText is the part of the catalogue for keys that begin with "git.".
var gitText = Table{}

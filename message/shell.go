package message

// shellText is the part of the catalogue for keys that begin with "shell.".
var shellText = Table{}

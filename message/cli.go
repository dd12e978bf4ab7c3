package message

// cliText is the part of the catalogue for keys that begin with "cli.".
var cliText = Table{}

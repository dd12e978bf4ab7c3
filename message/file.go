package message

// fileText is the part of the catalogue for keys that begin with "file.".
var fileText = Table{}

package message

// landText is the part of the catalogue for keys that begin with "land.".
var landText = Table{}

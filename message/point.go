package message

// pointText is the part of the catalogue for keys that begin with "point.".
var pointText = Table{}

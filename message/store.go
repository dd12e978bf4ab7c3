package message

// storeText is the part of the catalogue for keys that begin with "store.".
var storeText = Table{}

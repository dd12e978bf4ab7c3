package message

// kernelText is the part of the catalogue for keys that begin with "kernel.".
var kernelText = Table{}

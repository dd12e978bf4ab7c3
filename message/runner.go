package message

// runnerText is the part of the catalogue for keys that begin with "runner.".
var runnerText = Table{}

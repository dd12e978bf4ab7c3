package message

// searchText is the part of the catalogue for keys that begin with "search.".
var searchText = Table{}

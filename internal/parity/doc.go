// Package parity holds the faces to one another: of every state that work can be in, the command line, MCP, the API
// and the pages say the same. Its test plays work through the kernel's own commands, looks at every face whenever the
// states of the store together are others than were looked at, and fails where a state of the published tables was
// never seen.
package parity

// Package mcp is the face for agents: a server of the Model Context Protocol over the kernel. An agent reads through it
// where the work stands, reports its progress, notes decisions and errors, asks the person, and proposes a plan.
//
// It can do nothing else. What reaches the kernel passes writeTools.give, which lets five commands through and refuses
// every other, so that no client can approve, claim a verification, answer for the person or widen a policy. The actor
// of every command is "agent:mcp/" and the name that the client gives itself; that name proves nothing and opens
// nothing.
//
// Two transports are served: the standard streams, for a client that starts pawl itself, and streamable HTTP on a
// loopback address, behind a bearer token and checks of Host and Origin against rebinding of names. There is no CORS: a
// page in a browser is never a client.
package mcp

//go:build !conformance

package mcp

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// addFixtures adds what the protocol's conformance suite calls by name; only a build for that suite has it.
func addFixtures(*sdk.Server) {}

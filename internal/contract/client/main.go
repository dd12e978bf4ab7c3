// Command client writes a client of the HTTP API in Go, as whoever uses it would have one generated from its document.
package main

import (
	"fmt"
	"os"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oapi-codegen/oapi-codegen/v2/pkg/codegen"
	_ "github.com/oapi-codegen/runtime" // what is generated imports it
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: client DOCUMENT FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

func write(document, file string) error {
	doc, err := openapi3.NewLoader().LoadFromFile(document)
	if err != nil {
		return err
	}
	text, err := codegen.Generate(doc, codegen.Configuration{PackageName: "main",
		Generate: codegen.GenerateOptions{Client: true, Models: true}})
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// Spillway keeps an agent working when its LLM vendor stops.
package main

import (
	"os"

	"spillway/host/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

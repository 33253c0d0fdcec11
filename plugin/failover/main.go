// Failover is a spillway plugin: it moves a failing model call to the next
// vendor before the agent notices. Package brain decides, package classify reads
// wordings, package driver acts.
package main

import (
	"spillway/plugin/failover/driver"
	"spillway/sdk/serve"
)

func main() { serve.Main(driver.New()) }

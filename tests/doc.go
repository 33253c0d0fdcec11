// Package tests holds what no single package can say: rules about the whole
// tree, and black-box tests with real processes, servers and clients.
package tests

// Package browser tests the page of "spillway serve" in a real Chromium without a
// window: vendors are simulated, all else is the program as users have it.
//
// One Chromium serves all tests; each test's page has cookies and storage of its
// own. Whatever the page throws, logs as an error or is refused by its content
// security policy fails its test. Screenshots are kept in bin/browser.
package browser

'use strict'
// Preloaded into an example: ends it when the test that started it is gone, however that went. An example has
// a process group of its own, so a Ctrl-C on the test run does not reach it. What the example itself starts
// has a channel to it, and must leave without this.

if (process.send === undefined) {
  process.stdin.once('end', () => process.exit()).resume()
  process.stdin.unref()
}

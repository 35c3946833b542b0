// The test has made them of the block in docs/frameworks.md.

module.exports = globalThis.strapiLifecycles

// The test has made them of the block in docs/content-systems.md.

module.exports = globalThis.strapiLifecycles

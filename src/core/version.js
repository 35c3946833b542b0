'use strict'
// The version of this package, as in package.json. Bundles do not contain that file.

const VERSION = '0.1.0'

module.exports = { VERSION }

'use strict'
// The version of this package, as package.json has it. A bundler need not find that file.

const VERSION = '0.1.0'

module.exports = { VERSION }

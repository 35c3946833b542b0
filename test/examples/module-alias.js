'use strict'
// Preloaded into an example: lets it require another version of its framework under the name a user would
// write. TEST_MODULE_ALIAS is 'name=other', such as 'express=express-4'. Says on stderr that it did, for the
// test to check.

const Module = require('node:module')

const [name, other] = (process.env.TEST_MODULE_ALIAS ?? '').split('=')
if (other !== undefined) {
  const resolve = Module._resolveFilename
  Module._resolveFilename = function (request, ...rest) {
    if (request !== name) return resolve.call(this, request, ...rest)
    console.error(`${name} is ${other}`)
    return resolve.call(this, other, ...rest)
  }
}

'use strict'
// A request made by hand, with whatever fields a test gives it. Its transitions are checked.

require('./checked-transitions')
const { Request } = require('../../src/core/request/request')

const GET = 0

/** @returns {any} */
function requestWith({ req = {}, res = {}, ...fields } = {}) {
  return Object.assign(new Request(undefined, req, res, 0), { method: GET }, fields)
}

module.exports = { requestWith }

'use strict'
// A request made by hand, with whatever fields a test gives it. Its transitions are checked.

require('./checked-transitions')
const { RequestRecord } = require('../../src/core/request/request-record')

const GET = 0

/** @returns {any} */
function requestWith({ req = {}, res = {}, ...fields } = {}) {
  return Object.assign(new RequestRecord(undefined, req, res, 0), { method: GET }, fields)
}

module.exports = { requestWith }

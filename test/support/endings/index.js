'use strict'
// The ways an HTTP/1 request can end, as data: what the server does with it, what the client does, and what
// is to be measured of it. Every ending is a real connection; nothing is simulated.
//   before   what earlier middleware does, before the request comes to the spillway
//   answer   the application, given the responses so far, of which the last is its own
//   client   the other side, given a `Connection` and `entered(n)`: until the application has been entered n times
//   outcomes, statuses, firstBytes   to be measured, in all; '' is a request without a status

const { ANSWERED } = require('./answered')
const { OVER_BEFORE } = require('./before')
const { CLIENTS_FAULT, CUT_BY_CLIENT, CUT_BY_SERVER } = require('./cut')
const { PIPELINED } = require('./pipelined')
const { GET } = require('./terms')

const HTTP_1_ENDINGS = [
  ...ANSWERED,
  ...CUT_BY_SERVER,
  ...CUT_BY_CLIENT,
  ...CLIENTS_FAULT,
  ...PIPELINED,
  ...OVER_BEFORE,
]

module.exports = { GET, HTTP_1_ENDINGS }

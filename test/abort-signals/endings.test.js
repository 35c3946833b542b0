'use strict'
// The tables of endings again: a signal has aborted exactly where the answer was cut off, with the reason of
// who did it.

const assert = require('node:assert/strict')
const http = require('node:http')
const http2 = require('node:http2')
const https = require('node:https')
const { test } = require('node:test')
const tls = require('node:tls')
const { Connection } = require('../support/connection')
const { drive } = require('../support/drive')
const { HTTP_1_ENDINGS } = require('../support/endings')
const { HTTP_2_ENDINGS, Http2Client } = require('../support/endings-http2')
const preSharedKey = require('../support/pre-shared-key')

const TIMEOUT_MS = 20_000
const SERVER_ERROR = 500

/** What the signals of an ending should say: an answer with an error is a whole answer. */
function expectedOf({ outcomes, statuses }) {
  const { aborted = 0, completed = 0, errored = 0, upgraded = 0 } = outcomes
  const isCut = !Object.keys(statuses).some((status) => Number(status) >= SERVER_ERROR)
  return [
    ...Array(aborted).fill('ERR_SPILLWAY_CLIENT_DISCONNECTED'),
    ...Array(errored).fill(isCut ? 'ERR_SPILLWAY_RESPONSE_CUT' : 'none'),
    ...Array(completed + upgraded).fill('none'),
  ].sort()
}

/** Asks for the signal before the ending's own answer, and perhaps before the request is counted. */
function askingApplication({ spillway, application, signals, isEarly }) {
  // Nothing leads from a pipelined request to its response before it is counted.
  const ask = (req, res) => signals.push(spillway.signal(isEarly || signals.length % 2 === 1 ? res : req))
  return {
    isSynchronous: application.isSynchronous,
    before(req, res) {
      if (isEarly) ask(req, res)
      return application.before(req, res)
    },
    answer(req, res) {
      if (!isEarly) ask(req, res)
      application.answer(req, res)
    },
  }
}

const listening = (create) => (given) => {
  const { spillway, isAttached } = given
  const application = askingApplication(given)
  const measure = spillway.express()
  const server = create(async (req, res) => {
    const isBefore = application.before(req, res)
    if (!application.isSynchronous) await isBefore
    measure(req, res, () => application.answer(req, res))
  })
  return isAttached ? spillway.attach(server) : server
}

const OVER_TLS = {
  connect: (port) => tls.connect({ port, host: '127.0.0.1', ...preSharedKey.CLIENT }),
  event: 'secureConnect',
}

const http1 = listening((listener) => http.createServer(listener))
const WAYS = {
  'HTTP/1': { build: http1, endings: HTTP_1_ENDINGS },
  'HTTP/1 with attach()': { build: http1, endings: HTTP_1_ENDINGS, isAttached: true },
  'HTTP/1 before the middleware': { build: http1, endings: HTTP_1_ENDINGS, isEarly: true },
  TLS: {
    build: listening((listener) => https.createServer(preSharedKey.SERVER, listener)),
    endings: HTTP_1_ENDINGS,
    isAttached: true,
    connect: (port) => Connection.open(port, OVER_TLS),
  },
  'HTTP/2': {
    build: listening((listener) => http2.createServer(listener).on('sessionError', () => {})),
    endings: HTTP_2_ENDINGS,
    connect: Http2Client.open,
  },
  'HTTP/2 before the middleware': {
    build: listening((listener) => http2.createServer(listener).on('sessionError', () => {})),
    endings: HTTP_2_ENDINGS,
    connect: Http2Client.open,
    isEarly: true,
  },
}

for (const [way, { build, endings, connect = (port) => Connection.open(port), ...given }] of Object.entries(
  WAYS
)) {
  for (const ending of endings) {
    test(`over ${way}: ${ending.name}`, { timeout: TIMEOUT_MS }, async (t) => {
      const signals = []
      await drive(t, ending, (parts) => build({ ...parts, ...given, signals }), { connect })
      const codes = signals.map(({ aborted, reason }) => (aborted ? reason.code : 'none'))
      assert.deepEqual(codes.sort(), expectedOf(ending))
    })
  }
}

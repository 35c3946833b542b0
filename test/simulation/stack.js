'use strict'
// The real admission in simulated time, with requests whose answer costs the loop what a rejection costs.

const { join } = require('node:path')
const { randomFrom } = require('./random')

const NOT_SECURE = { isSecure: false, isHandedOver: false }
const ROOT = join(__dirname, '../..')

const NO_INTERNAL_ERRORS = {
  catchRejection: () => false,
  guard: (_place, callback) => callback(),
  report(_place, error) {
    throw error
  },
}

class SimulatedRequest {
  isEnded = false
  isQueued = false
  ticket
  stream
  session
  /** The connection, of all the streams of a session too. */
  socket
  connection
  req
  res

  constructor({ connection, headers, key, onRejected, priority, runQueued }, ticket) {
    this.socket = this.connection = connection
    this.session = connection.session
    const isHttp2 = this.session !== undefined
    this.stream = isHttp2 ? { session: this.session, closed: false, destroyed: false } : undefined
    this.req = { headers, httpVersionMajor: isHttp2 ? 2 : 1, method: 'GET', key, priority }
    this.res = responseTo(onRejected)
    this.ticket = ticket
    ticket.runQueued = runQueued
  }

  markQueued() {
    this.isQueued = true
  }

  markRunning() {
    this.isQueued = false
  }

  /** The client has left before its answer. */
  onLeave() {
    this.res.destroyed = true
    if (this.stream !== undefined) this.stream.closed = true
  }
}

function responseTo(onRejected) {
  let retryAfter
  return {
    headersSent: false,
    destroyed: false,
    getHeaderNames: () => [],
    writeHead(_status, head) {
      this.headersSent = true
      retryAfter = head[head.indexOf('Retry-After') + 1]
    },
    end: () => onRejected(retryAfter),
  }
}

/** @param {string} root the checkout whose admission it is */
function stackOf(root) {
  const { deadlineLimit } = require('../support/deadline-limit')
  const { Admission } = require(join(root, 'src/core/gate/admission'))
  const { NORMAL, RUN } = require(join(root, 'src/core/gate/decision'))
  const { DEFAULTS } = require(join(root, 'src/core/options/options'))
  const { Ticket } = require(join(root, 'src/core/request/request-record'))
  return {
    NORMAL,
    RUN,

    /** `deadlineMs`: for how long a feature lets a request be queued. */
    admission(clock, { deadlineMs, ...shed } = {}, connections, seed = 1) {
      const options = {
        ...DEFAULTS.shed,
        classify: (req) => req.priority ?? 'normal',
        ...shed,
      }
      const admission = new Admission({
        clock,
        internalErrors: NO_INTERNAL_ERRORS,
        options,
        random: randomFrom(seed),
        connections: connections && (() => connections),
        sampleMemory: () => ({}),
        onOverloadEvent: () => undefined,
      })
      if (deadlineMs !== undefined) admission.limitBy(deadlineLimit(deadlineMs))
      return admission
    },

    /** The loop has accepted a connection. */
    onAccept: (admission) => admission.onConnectionEvent('connection', NOT_SECURE),

    request: (given) => new SimulatedRequest(given, new Ticket()),

    release: (admission, request) => admission.release(request),

    /** Makes every estimate wrong by that factor, by what it is estimated from. */
    force(admission, factor, clock) {
      const { cost } = admission.measurements
      const wrongMs = Math.max(cost.ms, 0.1) * factor
      for (let i = 0; i < 10; i++) {
        cost.onTurn(10 * wrongMs, clock.now(), 10)
      }
      for (let i = 0; i < 200; i++) cost.onRejectionSent(0.01 * factor)
      for (let i = 0; i < 200; i++) {
        const ticket = new Ticket()
        admission.limits.onAdmit(ticket, clock.now() - 100 * factor, clock.idleMs())
        admission.limits.onEnd(ticket, clock.now(), clock.idleMs())
      }
    },
  }
}

module.exports = { stack: stackOf(ROOT), stackOf }

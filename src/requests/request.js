'use strict'
// One request being measured, from the moment a framework or server hands it over to the last byte of its answer.
// Each instance that measures a response has a request of its own, with its own state and its own admission.

const { Trail, kTrail } = require('../routing/route-state')
const { AdmissionRecord } = require('./admission-record')
const { connectionOf } = require('./connection-bytes')
const { ANSWERING, ENDED, QUEUED, RECEIVED, RUNNING, checked } = require('./request-state')

/** An answer of which no byte was sent has no status. */
const NO_STATUS = 0

// Every field is set in the constructor and none is added later, so that all requests have one hidden class.
class Request extends Trail {
  constructor(recorder, req, res, startedMs, method) {
    super()
    this.recorder = recorder
    /** Only the transitions below change it. */
    this.state = RECEIVED
    this.req = req
    this.res = res
    this.socket = req.socket
    this.stream = req.httpVersionMajor === 2 ? req.stream : undefined
    this.session = this.stream?.session
    this.connection = this.session === undefined ? this.socket : connectionOf(this.session)
    this.startedMs = startedMs
    this.method = method
    this.scheme = 0
    /** Whether it is one of ours to count: what a server hook has only prepared is not, until a middleware has it. */
    this.isCounted = false
    /** What the user leaves it out of: the bits of ignore.js. */
    this.ignores = 0
    /** The first of the instances that measure this response, on which the routers write, and the one after this. */
    this.head = this
    this.next = undefined
    /** What the response had in place of its class's `writeHead`. */
    this.ownWriteHead = undefined
    this.waitingOn = undefined
    this.admission = new AdmissionRecord()
    /** Its neighbours among those in flight. */
    this.elder = undefined
    this.younger = undefined

    // How it ended.
    this.firstByteMs = -1
    this.durationMs = 0
    this.outcome = 0
    /** Answered in the stead of its handler, which took too long. */
    this.isTimedOut = false
    this.status = NO_STATUS
    this.isCutOff = false
    /** An HTTP/2 stream that Node would have left behind. */
    this.isLeft = false
    this.isStream = false
    /** The ids of the trace it was answered in, if that is kept; and what holds its span. */
    this.trace = undefined
    this.serverSpan = undefined
    this.requestBytes = 0
    this.responseBytes = 0
    /** Where it was counted, or its route alone where it is left out of the metrics; none of a request that was not admitted. */
    this.series = undefined
    /** The last of its errors that are to be counted when it ends. */
    this.failure = undefined
  }

  markQueued() {
    this.state = QUEUED
  }

  markRunning() {
    this.state = RUNNING
  }

  markAnswering() {
    this.state = ANSWERING
  }

  markEnded() {
    this.state = ENDED
  }

  /** Whether it waits for its turn: one rejected in the queue may still wait for the application to answer it. */
  get isQueued() {
    return this.state === QUEUED && !this.admission.isRejected
  }

  /** Whether its answer has begun or is over. Others than its handler may have begun it, at any time. */
  get hasAnswer() {
    return this.state >= ANSWERING
  }
}

const { markQueued, markRunning, markAnswering, markEnded } = Request.prototype
const UNCHECKED = { markQueued, markRunning, markAnswering, markEnded }

/** Makes illegal transitions throw, for tests. Production keeps the methods above, so that the checks cost it nothing. */
function checkTransitions(isOn) {
  Object.assign(Request.prototype, isOn ? checked(UNCHECKED) : UNCHECKED)
}

/**
 * Whether its client disconnected, though the end of the request may not have been told yet.
 * A stream that was reset is closed before it is destroyed, and throws at whoever answers it. A pipelined answer is never told
 * that its connection closed before its turn.
 * `req.destroyed` does not tell: it is also true where a body parser before us has read everything.
 */
function isDisconnected({ state, res, socket, stream }) {
  if (state === ENDED) return true
  if (stream !== undefined) return stream.closed || stream.destroyed
  return res.destroyed === true || socket?.destroyed === true
}

/** @returns {Request | undefined} what `recorder` measures of this response */
function requestOf(res, recorder) {
  let request = res?.[kTrail]
  while (request !== undefined && request.recorder !== recorder) request = request.next
  return request
}

module.exports = { NO_STATUS, Request, checkTransitions, isDisconnected, requestOf }

'use strict'
// One request being measured, from the moment a framework or server hands it over to the last byte of its answer.
// Each instance that measures a response has a request of its own.

const { Trail, kTrail } = require('../routing/trail')
const { connectionOf } = require('./connection-bytes')

/** An answer of which no byte was sent has no status. */
const NO_STATUS = 0
/** The class of a request until it is classified: the index of 'normal' among the priorities. */
const NORMAL = 2

class Request extends Trail {
  constructor(recorder, req, res, startedMs, method) {
    super()
    this.recorder = recorder
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
    /** The first of the instances that measure this response, on which the routers write, and the one after this. */
    this.head = this
    this.next = undefined
    /** What the response had in place of its class's `writeHead`. */
    this.ownWriteHead = undefined
    this.waitingOn = undefined
    this.isEnded = false
    /** Its neighbours among those in flight. */
    this.elder = undefined
    this.younger = undefined

    // What the gate made of it.
    this.priority = NORMAL
    this.isDecided = false
    this.isShed = false
    this.queuedMs = 0
    this.waitsSinceMs = 0
    this.admittedMs = 0
    /** How many were in flight then. */
    this.admittedAmong = 0
    this.resource = undefined
    /** What runs it when its turn in the queue has come; called on the request. */
    this.resume = undefined
    /** The framework's own way on, which also takes an error; only a middleware has one. */
    this.proceed = undefined
    this.error = undefined
    /** Told that a request that waited will not run. */
    this.giveUp = undefined

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
    /** Where it was counted; none of a request that was not let in. */
    this.series = undefined
    /** The last of its errors that are to be counted when it ends. */
    this.failure = undefined
  }
}

/** Whether it waits for its turn in the gate's queue. */
const isQueued = ({ queuedMs, admittedMs, isShed }) => queuedMs > 0 && admittedMs === 0 && !isShed

/**
 * Whether its client is gone, though its end may not have been told yet: a stream that was reset is closed before it is
 * destroyed, and throws at whoever answers it; a pipelined answer that waits for its turn is of a connection that has gone,
 * and is not told so. Not `req.destroyed`: that is true as well where a body parser before us has read it all.
 */
function hasLeft({ isEnded, res, socket, stream }) {
  if (isEnded) return true
  if (stream !== undefined) return stream.closed || stream.destroyed
  return res.destroyed === true || socket?.destroyed === true
}

/** @returns {Request | undefined} what `recorder` measures of this response */
function requestOf(res, recorder) {
  let request = res?.[kTrail]
  while (request !== undefined && request.recorder !== recorder) request = request.next
  return request
}

module.exports = { NO_STATUS, Request, hasLeft, isQueued, requestOf }

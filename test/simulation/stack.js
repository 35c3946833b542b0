'use strict'
// The real admission in simulated time, with requests whose answer costs the loop what a rejection costs.

const { Admission } = require('../../src/admission/admission')
const { NORMAL, RUN } = require('../../src/admission/verdict')
const { DEFAULTS } = require('../../src/options/options')
const { AdmissionRecord } = require('../../src/requests/admission-record')
const { randomFrom } = require('./random')

const NO_FAULTS = {
  catchRejection: () => false,
  report(_place, error) {
    throw error
  },
}

class SimulatedRequest {
  isEnded = false
  isQueued = false
  admission = new AdmissionRecord()
  stream = undefined
  session = undefined
  socket
  req
  res

  constructor({ key, onRejected, priority, resume, socket }) {
    this.socket = socket
    this.req = { headers: {}, httpVersionMajor: 1, method: 'GET', key, priority }
    this.res = responseTo(onRejected)
    this.admission.resume = resume
  }

  markQueued() {
    this.isQueued = true
  }

  markRunning() {
    this.isQueued = false
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

const stack = {
  RUN,

  admission(clock, shed, seed = 1) {
    const options = {
      ...DEFAULTS.shed,
      classify: (req) => req.priority ?? 'normal',
      ...shed,
    }
    return new Admission({
      clock,
      faults: NO_FAULTS,
      options,
      random: randomFrom(seed),
      sampleMemory: () => ({}),
      onOverload: () => undefined,
    })
  },

  request: (given) => new SimulatedRequest(given),

  release: (admission, request) => admission.release(request),

  /** Makes every estimate wrong by that factor, by what it is estimated from. */
  force(admission, factor, clock) {
    const { cost } = admission.measurements
    const wrongMs = Math.max(cost.ms, 0.1) * factor
    for (let i = 0; i < 10; i++) {
      cost.onTurn(10 * wrongMs, clock.now(), 10)
    }
    for (let i = 0; i < 200; i++) cost.onReject(0.01 * factor)
    for (let i = 0; i < 200; i++) {
      const record = new AdmissionRecord()
      admission.limits.onAdmit(record, clock.now() - 100 * factor, clock.idleMs())
      admission.limits.onEnd(record, clock.now(), clock.idleMs())
    }
  },
}

module.exports = { NORMAL, stack }

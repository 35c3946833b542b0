'use strict'
// The loads of the services. Requests come at a constant rate, whatever the server does. Their latency counts
// from the time at which they were due.

const http = require('node:http')

const HOST = '127.0.0.1'
const REJECTED = 503

class Tally {
  /** What was done, in the unit of the service. */
  units = 0
  rejected = 0
  failed = 0
  latencies = []

  reset() {
    this.units = 0
    this.rejected = 0
    this.failed = 0
    this.latencies = []
  }

  /** @param {number} dueMs */
  answered(dueMs, units = 1) {
    this.units += units
    this.latencies.push(performance.now() - dueMs)
  }

  /** @param {number | undefined} status */
  refused(status) {
    if (status === REJECTED) this.rejected++
    else this.failed++
  }
}

/** Calls `send` at a constant rate with the time at which it was due. */
class Clock {
  #timer
  #startMs = 0
  #sent = 0

  constructor(perSecond, send) {
    this.gapMs = 1000 / perSecond
    this.send = send
  }

  start() {
    this.#startMs = performance.now()
    this.#timer = setInterval(() => this.#tick(), 1)
  }

  #tick() {
    const nowMs = performance.now()
    for (let dueMs = this.#dueMs(); dueMs <= nowMs; dueMs = this.#dueMs()) {
      this.#sent++
      this.send(dueMs)
    }
  }

  #dueMs() {
    return this.#startMs + this.#sent * this.gapMs
  }

  stop() {
    clearInterval(this.#timer)
  }
}

/** Requests over kept connections. */
class HttpLoad {
  tally = new Tally()
  #agent = new http.Agent({ keepAlive: true })
  #clock
  #isStopped = false

  /**
   * @param {number} port
   * @param {object} options
   * @param {number} options.rate requests a second
   * @param {string} options.path
   * @param {Record<string, string>} [options.headers]
   * @param {string | Buffer} [options.body] makes it a POST
   * @param {(res: http.IncomingMessage, tally: Tally) => void} [options.read] reads the body; counts it,
   *   unless the whole is a unit
   */
  constructor(port, { rate, path, headers = {}, body, read }) {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    this.request = {
      host: HOST,
      port,
      path,
      agent: this.#agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...length },
    }
    this.body = body
    this.read = read
    this.#clock = new Clock(rate, (dueMs) => this.#send(dueMs))
  }

  async start() {
    this.#clock.start()
  }

  #send(dueMs) {
    const { tally, read } = this
    const sent = http.request(this.request, (res) => {
      const isAnswer = res.statusCode === 200
      if (read !== undefined && isAnswer) read(res, tally)
      else res.resume()
      res.on('end', () => {
        if (isAnswer) tally.answered(dueMs, read === undefined ? 1 : 0)
        else tally.refused(res.statusCode)
      })
      res.on('error', () => this.#fail())
    })
    sent.on('error', () => this.#fail())
    sent.end(this.body)
  }

  #fail() {
    if (!this.#isStopped) this.tally.refused(undefined)
  }

  stop() {
    this.#isStopped = true
    this.#clock.stop()
    this.#agent.destroy()
  }
}

/** @returns {Promise<http.IncomingMessage>} */
const get = (port, path) =>
  new Promise((resolve, reject) => {
    http.get({ host: HOST, port, path, agent: false }, resolve).on('error', reject)
  })

/** @returns {Promise<http.IncomingMessage>} as soon as its body has been read */
async function visit(port, path) {
  const res = await get(port, path)
  res.resume()
  await new Promise((resolve) => res.on('close', resolve))
  return res
}

module.exports = { Clock, HOST, HttpLoad, Tally, get, visit }

'use strict'
// The clients of the story: users who sign up, log in, look at their profile again and again, and change
// their name now and then. They arrive in phases, as in artillery.yml. Each is made up: no two share an
// address.

const { randomUUID } = require('node:crypto')
const http = require('node:http')
const { setTimeout: delay } = require('node:timers/promises')
const { KEPT_MS } = require('../frame/load-process')
const { receiveVisitors } = require('../frame/visitors')

/** How many users a second arrive. The last phase lasts until the end. */
const PHASES = [
  { name: 'warm-up', seconds: 1, from: 4, to: 4 },
  { name: 'rush', seconds: 3, from: 4, to: 10 },
  { name: 'steady', seconds: Number.POSITIVE_INFINITY, from: 1, to: 1 },
]
const THINK_MS = 50
const LOOKS_PER_CHANGE = 10
const TIMEOUT_MS = 10_000
/** A user waits for `Retry-After` of a rejection, but no longer than this. */
const MAX_RETRY_MS = 1000

const NAMES = ['Ada', 'Alan', 'Barbara', 'Edsger', 'Grace', 'Katherine', 'Niklaus', 'Radia']

/** Returns how many users have arrived after this number of seconds. */
function arrivedAfter(seconds) {
  let arrived = 0
  for (const { seconds: length, from, to } of PHASES) {
    const within = Math.min(seconds, length)
    const rateThen = length === Number.POSITIVE_INFINITY ? to : from + ((to - from) * within) / length
    arrived += (within * (from + rateThen)) / 2
    seconds -= within
  }
  return Math.floor(arrived)
}

class Client {
  #agent = new http.Agent({ keepAlive: true, timeout: KEPT_MS })
  #url
  #recorder
  /** @type {Record<string, string>} */
  #authorization = {}
  isEnded = false

  constructor(url, recorder) {
    this.#url = new URL(url)
    this.#recorder = recorder
  }

  async live() {
    const email = `${randomUUID()}@example.com`
    const name = NAMES[Math.floor(Math.random() * NAMES.length)]
    const password = randomUUID()
    await this.#until('POST', '/sign-up', { email, name, password })
    const { token } = await this.#until('POST', '/log-in', { email, password })
    this.#authorization = { authorization: `Bearer ${token}` }
    for (let looks = 1; !this.isEnded; looks++) {
      await this.#until('GET', '/profile')
      await delay(THINK_MS)
      if (looks % LOOKS_PER_CHANGE === 0) await this.#until('PATCH', '/profile', { name: `${name} ${looks}` })
    }
  }

  end() {
    this.isEnded = true
    this.#agent.destroy()
  }

  /** A step that fails is tried again. */
  async #until(method, path, body) {
    while (!this.isEnded) {
      const { status, text, retryMs } = await this.#send(method, path, body)
      if (status >= 200 && status < 300) return text === '' ? {} : JSON.parse(text)
      await delay(retryMs)
    }
    return {}
  }

  #send(method, path, body) {
    const startedMs = performance.now()
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      ...this.#authorization,
      ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    }
    return new Promise((resolve) => {
      const end = (status, answer = '', retryMs = MAX_RETRY_MS) => {
        if (!this.isEnded) this.#recorder.record(`${method} ${path}`, performance.now() - startedMs, status)
        resolve({ status, text: answer, retryMs })
      }
      const { hostname, port } = this.#url
      http
        .request({ agent: this.#agent, headers, hostname, method, path, port, timeout: TIMEOUT_MS })
        .on('response', async (res) => {
          let answer = ''
          res.setEncoding('utf8').on('data', (chunk) => (answer += chunk))
          res.on('end', () => end(res.statusCode, answer, retryMsOf(res)))
          res.on('error', () => end(0))
        })
        .on('timeout', function () {
          this.destroy()
        })
        .on('error', () => end(0))
        .end(text)
    })
  }
}

const retryMsOf = ({ headers }) => Math.min(MAX_RETRY_MS, Number(headers['retry-after'] ?? 1) * 1000)

receiveVisitors(arrivedAfter, ({ url }, recorder) => new Client(url, recorder))

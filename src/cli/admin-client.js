'use strict'
// Asks an admin server: JSON, a stream of JSON lines, or a file. All requests use one kept connection, so the
// server counts a client that polls each second as one client. Redirects are not followed, because the token
// must reach only the named server.

const { createWriteStream } = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const { createInterface } = require('node:readline')
const { pipeline } = require('node:stream/promises')
const { VERSION } = require('../core/version')
const { failureOf, isResting, refusalOf, strangerOf } = require('./ask-errors')

/**
 * @import { Diagnosis, FleetSnapshot, LivePoint, RunTotals, Snapshot, StallSite } from '../../index.js'
 * @import { AskError } from './ask-errors'
 * @import { ProfileResult } from './profile-report'
 * @typedef {{ '/snapshot': Snapshot, '/doctor': Diagnosis, '/config': Record<string, unknown>,
 *   '/totals': RunTotals, '/stalls': { blocked: Blocked | null, told: Snapshot['stalls'] | null } }} Answers
 * @typedef {Pick<StallSite, 'function' | 'file' | 'line' | 'package' | 'frames' | 'method' | 'route'> &
 *   { blockedMs: number, asleepIn: string }} Blocked what blocks the loop now. In native code no function is
 *   known, only `asleepIn`: what the thread sleeps in
 * @typedef {{ progress?: { elapsedMs: number, totalMs: number }, result?: ProfileResult, error?: string }}
 *   ProfileLine
 * @typedef {{ instance: string, snapshot: Snapshot, diagnosis: Diagnosis, fleet: Omit<FleetSnapshot,
 *   'routes'> | null }} LiveState
 * @typedef {{ history?: LivePoint[], point?: LivePoint, state?: LiveState }} LiveLine
 * @typedef {{ accept: string, signal?: AbortSignal, timeoutMs?: number }} AskOptions timeoutMs: how long the
 *   server may be silent
 */

const TIMEOUT_MS = 10_000
/** A process that has been silent for this long may be blocked. */
const SILENT_MS = 2000
const JSON_TYPE = 'application/json'
const LINES_TYPE = 'application/x-ndjson'
const MAX_BYTES = 64_000_000
/** The longest time that a recorded run waits for its last totals, while the server's loop rests. */
const MAX_REST_MS = 30_000

/**
 * Checks that distinguish an answer of Spillway from the answer of another server.
 *
 * @type {Record<keyof Answers, (answer: Record<string, unknown>) => boolean>}
 */
const MARKS = {
  '/snapshot': ({ requests, admission }) => requests !== undefined && admission !== undefined,
  '/doctor': ({ findings }) => Array.isArray(findings),
  '/config': ({ shed }) => shed !== undefined,
  '/stalls': ({ blocked, told }) => blocked !== undefined && told !== undefined,
  '/totals': ({ latencies, snapshot }) => latencies !== undefined && snapshot !== undefined,
}

class AdminClient {
  /** Without a slash at its end. @type {string} */
  url
  #token
  #clock
  #agent
  #isClosed = false
  #transport
  /** @type {Set<http.ClientRequest>} */
  #requests = new Set()
  /** @type {AdminClient | undefined} */
  #watcher

  /**
   * @param {{ url: string, token: { value: string, from: string } | undefined,
   *   clock: import('../core/clock').Clock }} options
   */
  constructor({ url, token, clock }) {
    this.url = url
    this.#token = token
    this.#clock = clock
    this.#transport = url.startsWith('https:') ? https : http
    this.#agent = new this.#transport.Agent({ keepAlive: true, maxSockets: 1 })
  }

  /**
   * @template {keyof Answers} Path
   * @param {Path} path
   * @returns {Promise<Answers[Path]>}
   */
  async getJson(path) {
    let res = await this.#send('GET', path, { accept: JSON_TYPE })
    let text = await this.#textOf(res)
    const restMs = 1000 * Number(res.headers['retry-after'])
    if (isResting(text) && restMs <= MAX_REST_MS) {
      await new Promise((resolve) => this.#clock.wait(restMs, () => resolve(undefined)))
      res = await this.#send('GET', path, { accept: JSON_TYPE })
      text = await this.#textOf(res)
    }
    if (res.statusCode !== 200) throw this.#refusal(path, res, text)
    const value = parsed(text)
    if (value === undefined || !MARKS[path](value)) throw strangerOf(this.url, path, res)
    return /** @type {Answers[Path]} */ (value)
  }

  /**
   * Asks a process that may be blocked. If it is silent for two seconds, the thread that watches its loop is
   * asked as well, at the port after this one (`listen({ blockedPort })`).
   *
   * @template Answer
   * @param {(client: AdminClient) => Promise<Answer>} ask
   * @param {(client: AdminClient) => Promise<Answer>} [askWatcher]
   * @returns {Promise<{ answer: Answer, note: string | undefined }>} `note`: says that the watcher has
   *   answered
   */
  async askEither(ask, askWatcher = ask) {
    const asked = ask(this).then((answer) => ({ answer, note: undefined }))
    if (!(await this.#isSilent(asked))) return asked
    const { watcher } = this
    const note = `The process does not answer. This answer is from the thread that watches its event loop, at ${watcher.url}:`
    const told = askWatcher(watcher).then((answer) => ({ answer, note }))
    return Promise.race([asked, told.catch(() => asked)])
  }

  /** The server that answers while the loop of the process is blocked. */
  get watcher() {
    const url = new URL(this.url)
    url.port = String(Number(url.port || (url.protocol === 'https:' ? 443 : 80)) + 1)
    this.#watcher ??= new AdminClient({
      url: url.href.replace(/\/$/, ''),
      token: this.#token,
      clock: this.#clock,
    })
    return this.#watcher
  }

  /** @param {Promise<unknown>} asked */
  async #isSilent(asked) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer
    const silence = new Promise((resolve) => {
      timer = this.#clock.wait(SILENT_MS, () => resolve(true))
    })
    const answered = asked.then(
      () => false,
      () => false
    )
    return Promise.race([answered, silence]).finally(() => this.#clock.cancel(timer))
  }

  /**
   * Asks for work that takes time and reports line by line.
   *
   * @param {string} path
   * @param {(line: ProfileLine) => void} onLine
   * @param {Pick<AskOptions, 'timeoutMs'>} [options]
   */
  async postForLines(path, onLine, options) {
    const res = await this.#send('POST', path, { accept: LINES_TYPE, ...options })
    await this.#readLines(path, res, onLine)
  }

  /**
   * Reads an endless stream over a separate connection, until the signal aborts.
   *
   * @param {string} path
   * @param {(line: LiveLine) => void} onLine
   * @param {AbortSignal} signal
   */
  async followLines(path, onLine, signal) {
    try {
      const res = await this.#send('GET', path, { accept: LINES_TYPE, signal })
      await this.#readLines(path, res, onLine)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /**
   * @template Line
   * @param {string} path
   * @param {http.IncomingMessage} res
   * @param {(line: Line) => void} onLine
   */
  async #readLines(path, res, onLine) {
    if (res.statusCode !== 200) throw this.#refusal(path, res, await this.#textOf(res))
    try {
      for await (const line of createInterface({ input: res, crlfDelay: Number.POSITIVE_INFINITY })) {
        const value = parsed(line)
        if (value === undefined) throw strangerOf(this.url, path, res)
        onLine(/** @type {Line} */ (value))
      }
      // The line reader ends without an error when the connection breaks.
      if (!res.complete) throw res.errored ?? Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
    } catch (error) {
      throw failureOf(/** @type {AskError} */ (error), this.url)
    }
  }

  /** @param {string} path @param {string} file @param {string} flags of the file system */
  async saveFile(path, file, flags) {
    const res = await this.#send('GET', path, { accept: '*/*' })
    if (res.statusCode !== 200) throw this.#refusal(path, res, await this.#textOf(res))
    await pipeline(res, createWriteStream(file, { flags }))
  }

  /** Closes all connections, so that the server stops its work for this client. */
  close() {
    this.#isClosed = true
    // Waiting requests are destroyed first. Destroying the agent would let them open new connections.
    for (const req of this.#requests) req.destroy()
    this.#agent.destroy()
    this.#watcher?.close()
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {AskOptions} options
   * @returns {Promise<http.IncomingMessage>}
   */
  async #send(method, path, options) {
    try {
      return await this.#sendOnce(method, path, options)
    } catch (cause) {
      const error = /** @type {AskError} */ (cause)
      // The server closed the kept connection just before we used it.
      const isStale = error.isReused && error.code === 'ECONNRESET' && method === 'GET' && !this.#isClosed
      if (isStale) return this.#sendOnce(method, path, options).catch((again) => this.#fail(again))
      return this.#fail(error)
    }
  }

  /** @param {AskError} error @returns {never} */
  #fail(error) {
    throw failureOf(error, this.url)
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {AskOptions} options
   * @returns {Promise<http.IncomingMessage>}
   */
  #sendOnce(method, path, { accept, signal, timeoutMs = TIMEOUT_MS }) {
    return new Promise((resolve, reject) => {
      const headers = { Accept: accept, 'User-Agent': `spillway/${VERSION}`, ...this.#authorization() }
      const req = this.#transport.request(this.url + path, {
        method,
        headers,
        // A stream would occupy the one kept connection.
        agent: signal === undefined ? this.#agent : false,
        signal,
      })
      const fail = () => req.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT', timeoutMs }))
      this.#requests.add(req)
      let timer = this.#clock.wait(timeoutMs, fail)
      req.on('error', (error) => reject(Object.assign(error, { isReused: req.reusedSocket })))
      req.on('close', () => {
        this.#requests.delete(req)
        this.#clock.cancel(timer)
      })
      req.on('response', (res) => {
        res.on('data', () => {
          this.#clock.cancel(timer)
          timer = this.#clock.wait(timeoutMs, fail)
        })
        res.pause()
        resolve(res)
      })
      req.end()
    })
  }

  #authorization() {
    return this.#token === undefined ? {} : { Authorization: `Bearer ${this.#token.value}` }
  }

  /** @param {http.IncomingMessage} res */
  async #textOf(res) {
    /** @type {Buffer[]} */
    const pieces = []
    let size = 0
    try {
      for await (const piece of res) {
        pieces.push(piece)
        if ((size += piece.length) > MAX_BYTES) throw strangerOf(this.url, '', res)
      }
    } catch (error) {
      throw failureOf(/** @type {AskError} */ (error), this.url)
    }
    return Buffer.concat(pieces).toString('utf8')
  }

  /** @param {string} path @param {http.IncomingMessage} res @param {string} text */
  #refusal(path, res, text) {
    return refusalOf({ url: this.url, path, res, text, token: this.#token })
  }
}

/** @param {string} text @returns {Record<string, unknown> | undefined} undefined if it is not an object */
function parsed(text) {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

exports.AdminClient = AdminClient

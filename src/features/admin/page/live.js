'use strict'
// The connection to the process: one streamed answer, read line by line. When the answer ends, or no line
// comes for some seconds, the page connects again. The first retry comes soon, later retries every ten
// seconds.

const { token } = require('./token')

/**
 * @import { LivePoint } from '../../../../index.js'
 * @import { State } from './chart-list'
 * @typedef {{ history?: LivePoint[], point?: LivePoint, state?: State }} Line
 */

const SILENCE_MS = 8000
const FIRST_RETRY_MS = 500
const MAX_RETRY_MS = 10_000

/**
 * Returns a URL that also works behind a path prefix, with or without a slash at its end.
 *
 * @param {string} path
 */
const urlOf = (path) => new URL(path, location.origin + location.pathname.replace(/\/?$/, '/')).href

class Live {
  #handlers
  #retryMs = FIRST_RETRY_MS
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retryTimer
  /** @type {AbortController | undefined} */
  #abort

  /**
   * @param {{ onLine: (line: Line) => void, onLost: (retryMs: number, reason: string) => void,
   *   onOpen: () => void, onToken: (wasWrong: boolean) => void }} handlers
   */
  constructor(handlers) {
    this.#handlers = handlers
  }

  /** @param {boolean} [isNow] whether to begin again with the shortest retry delay */
  async open(isNow = false) {
    if (isNow) this.#retryMs = FIRST_RETRY_MS
    clearTimeout(this.#retryTimer)
    this.#abort?.abort()
    const abort = (this.#abort = new AbortController())
    try {
      await this.#read(abort)
      if (abort === this.#abort) this.#lost('The process has closed the connection.')
    } catch (error) {
      if (abort === this.#abort) this.#lost(reasonOf(error))
    }
  }

  /** Ends the connection, and does not reconnect until `open()` is called. */
  close() {
    clearTimeout(this.#retryTimer)
    this.#abort?.abort()
    this.#abort = undefined
  }

  /** @param {AbortController} abort */
  async #read(abort) {
    let silence = setTimeout(() => abort.abort(), SILENCE_MS)
    try {
      const response = await fetch(urlOf('live'), {
        headers: token.headers,
        signal: abort.signal,
        cache: 'no-store',
      })
      if (response.status === 401) {
        const wasWrong = token.isKnown
        token.forget()
        this.#abort = undefined
        return this.#handlers.onToken(wasWrong)
      }
      if (!response.ok || response.body === null) throw new Refusal((await response.text()).trim())
      this.#retryMs = FIRST_RETRY_MS
      this.#handlers.onOpen()
      for await (const line of linesOf(response.body)) {
        clearTimeout(silence)
        silence = setTimeout(() => abort.abort(), SILENCE_MS)
        this.#handlers.onLine(JSON.parse(line))
      }
    } finally {
      clearTimeout(silence)
    }
  }

  /** @param {string} reason */
  #lost(reason) {
    this.#abort = undefined
    this.#handlers.onLost(this.#retryMs, reason)
    this.#retryTimer = setTimeout(() => this.open(), this.#retryMs)
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2)
  }
}

class Refusal extends Error {}

/** @param {unknown} error */
const reasonOf = (error) => (error instanceof Refusal ? error.message : 'The process does not answer.')

/**
 * Reads lines with a reader, because not every browser can iterate over a stream.
 *
 * @param {NonNullable<Response['body']>} body
 */
async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** @param {string} path @returns {Promise<Record<string, unknown>>} */
async function getJson(path) {
  const response = await fetch(urlOf(path), { headers: token.headers, cache: 'no-store' })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return response.json()
}

exports.Live = Live
exports.getJson = getJson
exports.linesOf = linesOf
exports.urlOf = urlOf

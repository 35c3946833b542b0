'use strict'
// `/profile` and `/heap`: POST takes a profile and answers when the profile is done. GET says what a profile
// costs and whether it may be taken now. The last profile can be downloaded for some minutes. If the client
// disconnects, its profile ends.

const { urlPath } = require('../../core/url-path')
const { JSON_TYPE, dataHandler } = require('../../core/http/endpoints')
const { ACCEPTED, acceptsGzip, download, sendText } = require('./profile-answers')

/**
 * @import { ServerResponse } from 'node:http'
 * @import { Handler, Request, Response } from '../../../index.js'
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 * @import { Kind, Profiles } from '../profiles/profiles'
 */

const SECOND_MS = 1000
const LONGEST_S = 60
const PROGRESS_MS = 500
/** @type {Record<Kind, { path: string, extension: string, usualS: number, costs: string }>} */
const KINDS = {
  cpu: {
    path: '/profile',
    extension: 'cpuprofile',
    usualS: 10,
    costs:
      'The start blocks the event loop twice, and drops optimized code once. The larger the heap is, the longer each block takes. Then sampling takes up to 5 % of a core.',
  },
  heap: {
    path: '/heap',
    extension: 'heapprofile',
    usualS: 60,
    costs:
      'Sampling of what is allocated takes up to 2 % of a core. Halfway and at the end, V8 collects all garbage and blocks the event loop. The larger the heap is, the longer each block takes.',
  },
}

/**
 * @param {{ profiles: Profiles, clock: import('../../core/clock').Clock, internalErrors: InternalErrors }}
 *   deps
 * @returns {Record<string, Handler>}
 */
function profilePages(deps) {
  /** @type {Record<string, Handler>} */
  const pages = {}
  for (const kind of /** @type {Kind[]} */ (Object.keys(KINDS))) {
    const { path, extension } = KINDS[kind]
    const page = new ProfilePage(kind, deps)
    pages[path] = (req, res) =>
      req.method === 'POST' ? page.take(req, /** @type {ServerResponse} */ (res)) : page.describe(req, res)
    pages[`${path}/last.${extension}`] = page.download((kept) => kept.json(), extension, JSON_TYPE)
    pages[`${path}/last.pb.gz`] = page.download((kept) => kept.pprof(), 'pb.gz', 'application/gzip')
  }
  return pages
}

class ProfilePage {
  /** @type {Kind} */
  #kind
  #profiles
  #clock
  #internalErrors
  describe

  /** @param {Kind} kind @param {Parameters<typeof profilePages>[0]} deps */
  constructor(kind, { profiles, clock, internalErrors }) {
    this.#kind = kind
    this.#profiles = profiles
    this.#clock = clock
    this.#internalErrors = internalErrors
    this.describe = dataHandler(JSON_TYPE, () => JSON.stringify(this.#description()))
  }

  #description() {
    const profiles = this.#profiles
    const { kept, lastStartPauseMs, refusal } = profiles
    const { costs, usualS } = KINDS[this.#kind]
    const { atMs } = kept[this.#kind]
    return {
      seconds: { least: 1, most: LONGEST_S, usual: usualS },
      costs,
      expectedPauseMs: profiles.expectedPauseMs(this.#kind),
      lastStartPauseMs: lastStartPauseMs[this.#kind],
      lastAt: atMs === undefined ? null : new Date(atMs).toISOString(),
      refusal: refusal?.text ?? null,
    }
  }

  /** @param {Request} req @param {ServerResponse} res */
  take(req, res) {
    const seconds = secondsOf(/** @type {string} */ (req.url), KINDS[this.#kind].usualS)
    if (seconds === undefined)
      return sendText(res, { status: 400, text: `Give ?seconds= as a number from 1 to ${LONGEST_S}.` })
    const refusal = this.#profiles.refusal ?? this.#profiles.rest.refusal
    if (refusal !== undefined) return sendText(res, refusal)
    const client = new AbortController()
    res.once('close', () => client.abort())
    const durationMs = seconds * SECOND_MS
    const type = ACCEPTED.find(req.headers.accept)
    let endProgress = () => {}
    /** @param {number} pauseMs */
    const onStart = (pauseMs) => {
      if (type === ACCEPTED.lines) endProgress = this.#showProgress(res, pauseMs, durationMs)
    }
    /** @type {Promise<Buffer | undefined>} */
    let taking
    try {
      const keepsOptimized = queryOf(/** @type {string} */ (req.url)).get('keepOptimized') === 'yes'
      taking = this.#profiles.take(this.#kind, { durationMs, signal: client.signal, keepsOptimized, onStart })
    } catch (error) {
      return sendText(res, {
        status: 503,
        text: `The profiler does not start: ${/** @type {Error} */ (error).message}`,
      })
    }
    this.#whenTaken(res, taking, {
      onEnd: () => endProgress(),
      onResult: (result) => this.#answer(req, res, type, result),
    })
  }

  /**
   * Calls `onEnd` when the profile has ended. Calls `onResult` with the result if the client still waits.
   *
   * @param {ServerResponse} res
   * @param {Promise<Buffer | undefined>} taking
   * @param {{ onEnd: () => void, onResult: (result: Buffer) => Promise<void> }} listeners
   */
  #whenTaken(res, taking, { onEnd, onResult }) {
    // The answer may come later than the timeout of the socket, which is not the client's fault. A listener
    // of `timeout` keeps the socket open.
    const keepOpen = () => {}
    res.on('timeout', keepOpen)
    taking
      .finally(() => {
        onEnd()
        res.off('timeout', keepOpen)
      })
      .then(async (result) => {
        if (result !== undefined && !res.destroyed) await onResult(result)
      })
      .catch((error) => this.#fail(res, error))
  }

  /**
   * @param {ServerResponse} res
   * @param {number} startPauseMs
   * @param {number} totalMs
   * @returns {() => void} ends the progress lines
   */
  #showProgress(res, startPauseMs, totalMs) {
    const clock = this.#clock
    const beganMs = clock.now()
    /** @type {NodeJS.Timeout | undefined} */
    let timer
    res.writeHead(200, { 'Content-Type': ACCEPTED.lines })
    const show = () => {
      const elapsedMs = Math.min(totalMs, Math.round(clock.now() - beganMs))
      const progress = { elapsedMs, totalMs, startPauseMs: Math.round(startPauseMs) }
      res.write(`${JSON.stringify({ progress })}\n`)
      timer = clock.after(PROGRESS_MS, show)
    }
    show()
    return () => clock.cancel(timer)
  }

  /** @param {Request} req @param {ServerResponse} res @param {string} type @param {Buffer} result */
  async #answer(req, res, type, result) {
    if (type === ACCEPTED.lines) {
      res.write('{"result":')
      res.write(result)
      return void res.end('}\n')
    }
    const kept = this.#profiles.kept[this.#kind]
    const name = this.#fileName()
    if (type !== ACCEPTED.json)
      return download(res, { bytes: await kept.pprof(), name: `${name}.pb.gz`, contentType: type })
    const isZipped = acceptsGzip(req)
    download(res, {
      bytes: isZipped ? kept.zipped : await kept.json(),
      name: `${name}.${KINDS[this.#kind].extension}`,
      contentType: JSON_TYPE,
      isZipped,
    })
  }

  /**
   * @param {(kept: Profiles['kept']['cpu']) => Promise<Buffer | undefined>} read
   * @param {string} extension @param {string} contentType @returns {Handler}
   */
  download(read, extension, contentType) {
    return (_req, res) => {
      read(this.#profiles.kept[this.#kind])
        .then((bytes) => download(res, { bytes, name: `${this.#fileName()}.${extension}`, contentType }))
        .catch((error) => this.#fail(res, error))
    }
  }

  /** For example, the worker thread may run out of memory. @param {Response} res @param {Error} error */
  #fail(res, error) {
    this.#internalErrors.report('profile', error)
    const text = `The profile could not be made: ${error.message}`
    if (!res.headersSent) sendText(res, { status: 500, text })
    else res.end(`${JSON.stringify({ error: text })}\n`)
  }

  #fileName() {
    const at = new Date(this.#profiles.kept[this.#kind].atMs ?? 0).toISOString()
    return `spillway-${process.pid}-${at.slice(0, 19).replaceAll(':', '-')}`
  }
}

/** @param {string} url */
const queryOf = (url) => new URLSearchParams(url.slice(urlPath(url).length))

/**
 * @param {string} url
 * @param {number} usualS
 * @returns {number | undefined} undefined if it is not a number in the range
 */
function secondsOf(url, usualS) {
  const text = queryOf(url).get('seconds')
  if (text === null) return usualS
  const seconds = /^\d{1,3}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  return seconds >= 1 && seconds <= LONGEST_S ? seconds : undefined
}

module.exports = { profilePages }

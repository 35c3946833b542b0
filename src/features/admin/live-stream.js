'use strict'
// Answers `GET /live`: lines of JSON for as long as the client stays. The first lines have the last ten
// minutes and the state. Then comes a point each second, and the state every few seconds. A line is rendered
// once for all readers. Without a reader, no timer runs and nothing is rendered. A client that reads slowly
// misses lines, because at most its first line and one more are buffered.

const { readOnly } = require('../../core/http/endpoints')
const { FleetShares } = require('./fleet-shares')
const { describeProcess } = require('./process-description')
const { SECOND_MS } = require('./history')

/**
 * @import { Diagnosis, FleetSnapshot, LivePoint, Request, Snapshot } from '../../../index.js'
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 * @import { History } from './history'
 * @typedef {Omit<FleetSnapshot, 'routes'> & { lastMinute: import('./fleet-shares').Shares }} FleetState
 */

const MIN_MS = 2000
/** A finding must be seen within ten seconds of its fault. */
const MAX_MS = 5000
/** A state line is kept for this multiple of the time that making it took. */
const REST = 200
const FLEET_MS = 5000

/**
 * The state line of the live page: the snapshot, the diagnosis and the workers. All viewers share it. A line
 * that took longer to make is kept for longer. So making lines takes about half a percent of the time.
 */
class LiveState {
  #deps
  #process = describeProcess()
  #text = ''
  #dueMs = Number.NEGATIVE_INFINITY
  /** @type {FleetState | undefined} */
  #fleet
  #fleetShares = new FleetShares()
  #fleetDueMs = Number.NEGATIVE_INFINITY

  /**
   * @param {{ clock: Pick<import('../../core/clock').Clock, 'now'>, instance: string,
   *   takeSnapshot: () => Snapshot, diagnose: () => Diagnosis,
   *   takeFleetSnapshot: () => Promise<FleetSnapshot> | undefined, internalErrors: InternalErrors }} deps
   *   instance: differs after a restart; takeFleetSnapshot: returns undefined outside of a fleet
   */
  constructor(deps) {
    this.#deps = deps
  }

  /** @param {number} nowMs @returns {boolean} whether it is time for a new line */
  isDue(nowMs) {
    return nowMs >= this.#dueMs
  }

  /** @param {number} nowMs @returns {string} the line, made again if it is due */
  line(nowMs) {
    if (!this.isDue(nowMs)) return this.#text
    this.#pollFleet(nowMs)
    const { clock, instance, takeSnapshot, diagnose } = this.#deps
    const sinceMs = clock.now()
    const state = {
      instance,
      process: this.#process,
      snapshot: takeSnapshot(),
      diagnosis: diagnose(),
      fleet: this.#fleet ?? null,
    }
    this.#text = `${JSON.stringify({ state })}\n`
    const tookMs = clock.now() - sinceMs
    this.#dueMs = nowMs + Math.min(MAX_MS, Math.max(MIN_MS, REST * tookMs))
    return this.#text
  }

  /**
   * Requests the figures of other workers. Their answers come later, so they are shown by the next line.
   *
   * @param {number} nowMs
   */
  #pollFleet(nowMs) {
    if (nowMs < this.#fleetDueMs) return
    this.#fleetDueMs = nowMs + FLEET_MS
    const { internalErrors, takeFleetSnapshot } = this.#deps
    takeFleetSnapshot()
      ?.then((/** @type {FleetSnapshot} */ { routes, ...fleet }) => {
        this.#fleet = { ...fleet, lastMinute: this.#fleetShares.take({ routes, ...fleet }, nowMs) }
      })
      .catch((error) => internalErrors.report('live', error))
  }
}

const MAX_VIEWERS = 20
const CONTENT_TYPE = 'application/x-ndjson; charset=utf-8'
/**
 * A client that reads nothing is disconnected after one to two times this time. The option `timeout` does not
 * apply here, because it may be shorter than the pause between lines.
 */
const UNREAD_MS = 15_000
/** A client that reads just enough to stay connected is cut off after its buffers were full for this time. */
const FULL_MS = 30_000

/** @typedef {import('node:http').ServerResponse} Response */

class LiveStream {
  #clock
  #history
  #state
  /**
   * Time since which the buffers of each viewer have been full; undefined while they are not full.
   *
   * @type {Map<Response, number | undefined>}
   */
  #viewers = new Map()
  #mostViewers = MAX_VIEWERS
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  #past = { text: '', nowMs: Number.NEGATIVE_INFINITY }
  #isClosed = false

  /**
   * @param {{ clock: import('../../core/clock').Clock, history: History,
   *   state: LiveState }} deps
   */
  constructor({ clock, history, state }) {
    this.#clock = clock
    this.#history = history
    this.#state = state
    this.handler = readOnly((req, res) => this.#answer(req, /** @type {Response} */ (res)))
  }

  /**
   * Limits the viewers. They keep their connections open, so they get at most half of all connections. The
   * other half is for scrapes and probes.
   *
   * @param {number} maxConnections
   */
  limitTo(maxConnections) {
    this.#mostViewers = Math.max(1, Math.min(MAX_VIEWERS, Math.floor(maxConnections / 2)))
  }

  /** @param {Request} req @param {Response} res */
  #answer(req, res) {
    if (this.#viewers.size >= this.#mostViewers || this.#isClosed) return this.#refuse(req, res)
    res.writeHead(200, {
      'Content-Type': CONTENT_TYPE,
      'Cache-Control': 'no-store',
      // Tells nginx not to buffer: a proxy that waits for the end of the answer would never pass on a line.
      'X-Accel-Buffering': 'no',
      Connection: 'close',
    })
    if (req.method === 'HEAD') return res.end()
    req.socket.setTimeout(UNREAD_MS)
    this.#viewers.set(res, undefined)
    res.once('close', () => this.#remove(res))
    const nowMs = this.#clock.now()
    res.write(this.#pastLine(nowMs) + this.#state.line(nowMs))
    if (this.#viewers.size > 1) return
    this.#history.onPoint = (point, pointMs) => this.#onPoint(point, pointMs)
    this.#wakeLater()
  }

  /** @param {Request} req @param {Response} res */
  #refuse(req, res) {
    const text = `${this.#mostViewers} clients already read this stream. Close an open page, or ask again later.\n`
    res.writeHead(503, {
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'no-store',
      'Retry-After': '5',
    })
    res.end(req.method === 'HEAD' ? undefined : text)
  }

  /** The history line. Clients that connect in the same second share it. @param {number} nowMs */
  #pastLine(nowMs) {
    if (nowMs - this.#past.nowMs >= SECOND_MS) {
      const text = `${JSON.stringify({ history: this.#history.points() })}\n`
      this.#past = { text, nowMs }
    }
    return this.#past.text
  }

  /** @param {LivePoint} point @param {number} nowMs */
  #onPoint(point, nowMs) {
    // The cached history line lacks this point, so the next viewer gets a new line.
    this.#past = { text: '', nowMs: Number.NEGATIVE_INFINITY }
    const line = `${JSON.stringify({ point })}\n`
    this.#write(this.#state.isDue(nowMs) ? line + this.#state.line(nowMs) : line, nowMs)
  }

  /** @param {string} text @param {number} nowMs */
  #write(text, nowMs) {
    const bytes = Buffer.from(text)
    for (const [res, fullSinceMs] of this.#viewers) {
      if (!res.writableNeedDrain) {
        res.write(bytes)
        this.#viewers.set(res, undefined)
      } else if (fullSinceMs === undefined) this.#viewers.set(res, nowMs)
      else if (nowMs - fullSinceMs >= FULL_MS) res.destroy()
    }
  }

  /** Points are taken in loop turns. This timer causes a turn each second, also in an idle process. */
  #wakeLater() {
    const nowMs = this.#clock.now()
    const { dueMs } = this.#history
    const delayMs = dueMs > nowMs ? Math.min(SECOND_MS, dueMs - nowMs) : SECOND_MS
    this.#timer = this.#clock.after(Math.ceil(delayMs), () => this.#wakeLater())
  }

  /** @param {Response} res */
  #remove(res) {
    this.#viewers.delete(res)
    if (this.#viewers.size > 0) return
    this.#history.onPoint = () => {}
    this.#clock.cancel(this.#timer)
  }

  close() {
    this.#isClosed = true
    for (const res of this.#viewers.keys()) {
      res.end()
      this.#remove(res)
    }
  }
}

exports.MAX_VIEWERS = MAX_VIEWERS
exports.LiveState = LiveState
exports.LiveStream = LiveStream

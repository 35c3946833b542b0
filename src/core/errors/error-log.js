'use strict'
// Logs each error in one line, in the shape of pino: the error, its request, route and trace. Each kind of
// error has its own rate limit, so that a flood of one kind hides no other.

const { LogRateLimit } = require('../log/log-rate-limit')

/**
 * @import { IncomingMessage } from 'node:http'
 * @import { Logger } from '../../../index.js'
 * @import { Clock } from '../clock'
 * @import { RequestFields } from '../log/request-fields'
 * @import { InternalErrors } from './internal-errors'
 * @import { Failure } from './failure'
 */

/** Kinds beyond this number share one limit. */
const MAX_KINDS = 200
const OTHER_KINDS = '_OTHER'

class ErrorLog {
  #logger
  #clock
  #internalErrors
  #fields
  /** @type {Map<string, LogRateLimit>} */
  #limits = new Map()

  /**
   * @param {{ logger: Logger, clock: Clock, internalErrors: InternalErrors, fields: RequestFields }} deps
   */
  constructor({ logger, clock, internalErrors, fields }) {
    this.#logger = logger
    this.#clock = clock
    this.#internalErrors = internalErrors
    this.#fields = fields
  }

  /**
   * Logs an error that ended a request.
   *
   * @param {Failure} failure
   * @param {{ req: IncomingMessage, route?: string | undefined, trace?: object | undefined }} where
   */
  write(failure, { req, route, trace }) {
    const { status } = failure
    const message = `${req.method} ${route} failed with ${status}`
    this.#write(status >= 500 ? 'error' : 'warn', failure, {
      event: 'error',
      status,
      route,
      trace,
      req,
      message,
    })
  }

  /**
   * Logs an error that nobody caught.
   *
   * @param {Failure} failure
   * @param {{ event: string, req?: IncomingMessage | undefined, method?: string | undefined, route?: string |
   *   undefined, status?: number | undefined }} where `method` and `route`: of the request that the code ran
   *   for, if known; `status`: of the response that spillway sends for the error, if any
   */
  writeUncaught(failure, { event, req, method, route, status }) {
    const message = route === undefined ? event : `${event} in ${method} ${route}`
    this.#write('error', failure, { event, status, route, req, message })
  }

  /**
   * @param {'error' | 'warn'} level
   * @param {Failure} failure
   * @param {{ event: string, status: number | undefined, route: string | undefined, trace?: object |
   *   undefined, req: IncomingMessage | undefined, message: string }} where
   */
  #write(level, failure, where) {
    const { event, status, route, trace, req, message } = where
    const limit = this.#limitOf(`${event} ${status} ${failure.type}`)
    const unlogged = limit.take(this.#clock.now())
    if (unlogged < 0) return
    this.#internalErrors.guard('logger', () => {
      const fields = {
        err: failure.describe(),
        event,
        ...(status !== undefined && { status }),
        ...(route !== undefined && { route }),
        ...trace,
        ...(unlogged > 0 && { unlogged }),
        ...(req !== undefined && { req: this.#fields.ofRequest(req) }),
      }
      return this.#logger[level](fields, `spillway: ${message}`)
    })
  }

  /** @param {string} kind @returns {LogRateLimit} */
  #limitOf(kind) {
    let limit = this.#limits.get(kind)
    if (limit !== undefined) return limit
    if (this.#limits.size >= MAX_KINDS && kind !== OTHER_KINDS) return this.#limitOf(OTHER_KINDS)
    limit = new LogRateLimit(this.#clock.now())
    this.#limits.set(kind, limit)
    return limit
  }
}

exports.ErrorLog = ErrorLog

'use strict'
// Checks once where the middlewares stand in an app, and warns of mistakes that would stay silent. The check
// runs at the first request of an app that has routes, because the app is complete then. Requests for
// spillway's endpoints do not start the check. A middleware after all routes may never run, so Node's
// diagnostics channel reports the first request.

const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const { expressLayout, koaLayout } = require('../route/app-layout')
const { isExpressApp } = require('./app-kinds')
const { isFactory } = require('./wrong-framework')
const { mayPassOn, watchErrorHandler } = require('./user-error-handlers')
const {
  earlyErrorHandler,
  hiddenRoutes,
  lateMiddleware,
  partialMiddleware,
  repeatedErrorHandler,
} = require('./setup-mistakes')

/**
 * @import { Server } from 'node:net'
 * @import Koa from 'koa'
 * @import { Handler, ResolvedOptions } from '../../../index.js'
 * @import { CallPlace } from '../call-place'
 * @import { Admission } from '../gate/admission'
 * @import { Notices } from '../notices'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { Row } from '../route/app-layout'
 * @import { AnyFunction, ExpressApp } from './app-kinds'
 * @import { Endpoints } from './endpoints'
 * @import { AppRequest } from './early-entry'
 * @import { NodeRequest, Entrance } from './entrance'
 * @import { ErrorLayer } from './user-error-handlers'
 *
 * @typedef {WeakMap<object, CallPlace>} Places
 */

const REQUEST_STARTED = 'http.server.request.start'
/**
 * The search for an app ends after this many requests, because an app inside a listener of the user cannot be
 * found.
 */
const MAX_REQUESTS = 100

class SetUpCheck {
  #deps
  #notices
  /** The place of the call that made each function. @type {Places} */
  #middlewares = new WeakMap()
  /** @type {Places} */
  #errorHandlers = new WeakMap()
  #hasErrorHandler = false
  /** @type {WeakSet<ExpressApp | Koa>} */
  #checked = new WeakSet()
  /** How many requests each app received before it had a route. @type {WeakMap<ExpressApp, number>} */
  #requestsWithoutRoute = new WeakMap()
  #requestsLeft = MAX_REQUESTS
  #isListening = false
  #onRequest = (/** @type {{ request: NodeRequest, server: Server }} */ { request, server }) =>
    this.#deps.internalErrors.guard('setup_check', () => this.#onStart(request, server))

  /**
   * @param {{
   *   notices: Notices,
   *   place: CallPlace,
   *   options: ResolvedOptions,
   *   endpoints: Endpoints,
   *   handlers: Record<string, Handler>,
   *   entrance: Entrance,
   *   admission: Admission,
   *   internalErrors: InternalErrors,
   * }} deps `place`: the place of the `createSpillway()` call
   */
  constructor(deps) {
    this.#deps = deps
    this.#notices = deps.notices
  }

  /**
   * @template {AnyFunction} Middleware
   * @param {Middleware} middleware
   * @param {CallPlace} place of the call that made the middleware
   */
  addMiddleware(middleware, place) {
    this.#middlewares.set(middleware, place)
    this.listen()
    return middleware
  }

  /** @template {AnyFunction} ErrorHandler @param {ErrorHandler} handler @param {CallPlace} place */
  addErrorHandler(handler, place) {
    this.#errorHandlers.set(handler, place)
    this.#hasErrorHandler = true
    this.listen()
    return handler
  }

  /** Subscribes until the first request of an app that uses spillway. */
  listen() {
    if (this.#isListening || this.#requestsLeft === 0) return
    this.#isListening = true
    subscribe(REQUEST_STARTED, /** @type {Parameters<typeof subscribe>[1]} */ (this.#onRequest))
  }

  /** @param {NodeRequest} request @param {Server} server */
  #onStart(request, server) {
    if (--this.#requestsLeft === 0) this.close()
    // Probes and scrapers may come before the last route is registered.
    if (this.#deps.endpoints.has(request)) return
    const app = server.listeners('request').find(isExpressApp)
    if (app === undefined) return
    const isAttached = this.#deps.entrance.isAttached(server)
    const layout = expressLayout(app)
    if (!hasRoute(layout) || (!isAttached && this.#placeOfMiddleware(layout) === undefined)) return
    this.close()
    this.#checkApp(app, layout, isAttached)
  }

  /**
   * @param {AppRequest} req
   * @param {boolean} isMeasured whether requests are measured before the app sees them
   * @returns {boolean} whether the app is checked: its later requests need not come here
   */
  checkExpress({ app, originalUrl }, isMeasured) {
    if (this.#checked.has(app)) return true
    let isDone = true
    this.#deps.internalErrors.guard('setup_check', () => {
      const layout = expressLayout(app)
      if (hasRoute(layout) && !this.#deps.endpoints.has({ url: originalUrl }))
        this.#checkApp(app, layout, isMeasured)
      else isDone = this.#countWithoutRoute(app)
    })
    return isDone
  }

  /**
   * @param {ExpressApp} app
   * @returns {boolean} whether to stop waiting for a route, because the app received too many requests
   *   without one
   */
  #countWithoutRoute(app) {
    const count = (this.#requestsWithoutRoute.get(app) ?? 0) + 1
    this.#requestsWithoutRoute.set(app, count)
    return count >= MAX_REQUESTS
  }

  /** @param {ExpressApp} app @param {Row[]} layout @param {boolean} isMeasured */
  #checkApp(app, layout, isMeasured) {
    this.#once(app, () => {
      this.#checkMiddleware(layout, { name: 'express', isMeasured })
      this.#checkErrorHandlers(layout)
      this.#checkFactories(layout)
      const place = this.#placeOfMiddleware(layout)
      if (!isMeasured) {
        const isOwn = (/** @type {Row['originals']} */ functions) =>
          placeIn(this.#middlewares, functions) !== undefined
        this.#warn('partial-middleware', place, partialMiddleware(layout, isOwn))
      }
      if (place !== undefined && !hasErrorHandler(app, layout)) this.#checkMissingErrorHandler(place)
    })
  }

  /** @param {Koa} app @param {boolean} isMeasured */
  checkKoa(app, isMeasured) {
    this.#once(app, () => {
      if (Array.isArray(app.middleware)) this.#checkMiddleware(koaLayout(app), { name: 'koa', isMeasured })
    })
  }

  /** @param {ExpressApp | Koa} app @param {() => void} check */
  #once(app, check) {
    if (this.#checked.has(app)) return
    this.#checked.add(app)
    this.#deps.internalErrors.guard('setup_check', check)
  }

  /** @param {Row[]} layout @param {{ name: 'express' | 'koa', isMeasured: boolean }} how */
  #checkMiddleware(layout, { name, isMeasured }) {
    const { admission, handlers, options, place } = this.#deps
    const at = layout.findIndex(({ originals }) => placeIn(this.#middlewares, originals) !== undefined)
    if (at !== -1 && (!isMeasured || admission.hasUserHooks)) {
      const late = lateMiddleware(layout, at, { name, isMeasured })
      this.#warn('late-middleware', placeIn(this.#middlewares, layout[at].originals), late)
    }
    const { allow, ...paths } = options.endpoints
    // With `allow`, a request that `allow` denies reaches the user's route.
    if (allow !== undefined || (at === -1 && !isMeasured)) return
    const later = isMeasured ? layout : layout.slice(at + 1)
    for (const [path, sentence] of hiddenRoutes(later, paths, handlers))
      this.#warn('hidden-route', place, sentence, path)
  }

  /** @param {Row[]} layout */
  #checkErrorHandlers(layout) {
    /** @param {Row} row */
    const placeOf = ({ originals }) => placeIn(this.#errorHandlers, originals)
    /** @param {Row} row */
    const isOwn = (row) => placeOf(row) !== undefined
    const at = layout.findLastIndex(isOwn)
    if (at === -1) return
    const place = placeOf(layout[at])
    const second = repeatedErrorHandler(layout, isOwn, this.#deps.options.errors.answer)
    if (second !== undefined) this.#warn('repeated-error-handler', placeOf(second), REPEATED)
    this.#warn('early-error-handler', place, earlyErrorHandler(layout, at))
    for (const row of layout.slice(0, at)) {
      const { layer, isErrorHandler, isAtRoot, originals } = row
      if (!isErrorHandler || !isAtRoot || isOwn(row) || mayPassOn(originals)) continue
      watchErrorHandler(/** @type {ErrorLayer} */ (layer), (status) =>
        this.#warn('answering-error-handler', place, answered(/** @type {ErrorLayer} */ (layer), status))
      )
    }
  }

  /** `app.use(spillway.express)` throws by itself, but a router accepts the factory. @param {Row[]} layout */
  #checkFactories(layout) {
    /** @param {Row} row */
    const isUncalled = ({ originals, inner }) => [...originals, ...inner].some(isFactory)
    if (!layout.some(isUncalled)) return
    this.#hasErrorHandler = true
    this.#warn(
      'uncalled-factory',
      this.#deps.place,
      'A function of spillway was registered, and not its result. Call the function, for example: router.use(spillway.errorHandler()).'
    )
  }

  /** @param {CallPlace} place */
  #checkMissingErrorHandler(place) {
    if (this.#hasErrorHandler || !this.#deps.options.errors.answer) return
    this.#warn(
      'missing-error-handler',
      place,
      'No error handler is registered: Express answers errors itself, and spillway neither counts nor logs them. ' +
        'Write app.use(spillway.errorHandler()) after the last route, or createSpillway({ errors: false }).'
    )
  }

  /**
   * The place of the call that made the middleware in the app or in one of its routers.
   *
   * @param {Row[]} layout
   */
  #placeOfMiddleware(layout) {
    return placeIn(
      this.#middlewares,
      layout.flatMap(({ originals, inner }) => [...originals, ...inner])
    )
  }

  /**
   * @param {string} mistake
   * @param {CallPlace | undefined} place
   * @param {string | undefined} sentence
   * @param {string} [subject]
   */
  #warn(mistake, place, sentence, subject) {
    if (sentence !== undefined) this.#notices.warn(mistake, place, sentence, subject)
  }

  close() {
    this.#requestsLeft = 0
    if (this.#isListening)
      unsubscribe(REQUEST_STARTED, /** @type {Parameters<typeof subscribe>[1]} */ (this.#onRequest))
    this.#isListening = false
  }
}

/** @param {Places} places @param {Row['originals']} functions */
function placeIn(places, functions) {
  const own = functions.find((each) => places.has(each))
  return own && places.get(own)
}

/** A mounted function may answer as a route does. @param {Row[]} layout */
const hasRoute = (layout) => layout.some(({ routes, isMount }) => routes.length > 0 || isMount)

/**
 * Whether the app, one of its routers, or an app it is mounted in has an error handler.
 *
 * @param {ExpressApp} app
 * @param {Row[]} layout
 * @returns {boolean}
 */
function hasErrorHandler(app, layout) {
  if (layout.some(({ isErrorHandler, inner }) => isErrorHandler || inner.some(takesErrors))) return true
  return app.parent !== undefined && hasErrorHandler(app.parent, expressLayout(app.parent))
}

/**
 * Express recognizes error handlers by their number of parameters.
 *
 * @param {{ length: number } | undefined} handler
 */
const takesErrors = (handler) => handler?.length === 4

const REPEATED =
  'spillway.errorHandler() is registered twice, with no route between: the first has already seen every error that reaches the second. ' +
  'Remove one of them.'

/** @param {{ name: string }} layer @param {number} status */
const answered = ({ name }, status) =>
  `Your error handler${name === '<anonymous>' ? '' : ` ${name}`} is registered before spillway.errorHandler() and answered ${status} without next(error): ` +
  'spillway neither counts nor logs the errors that end there. Register spillway.errorHandler() before your handler, with ' +
  'createSpillway({ errors: false }). spillway.errorHandler() then passes each error on to your handler.'

exports.SetUpCheck = SetUpCheck

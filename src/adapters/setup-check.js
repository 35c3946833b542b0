'use strict'
// Looks once at where our middlewares stand in an app, and warns of what would stay silent. The first request is the time: the
// app is whole then. An app may listen before it has routes, so it is judged when it has one, and by no request for our
// endpoints. A middleware behind all routes may never see one, so Node's diagnostics channel tells of it, and is left
// again with that request.

const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const { expressLayout, koaLayout } = require('../routing/app-layout')
const { isExpressApp } = require('./app-kinds')
const { isFactory } = require('./wrong-framework')
const { mayPassOn, watchErrorHandler } = require('./user-error-handlers')
const { earlyErrorHandler, hiddenRoutes, lateMiddleware, repeatedErrorHandler } = require('./setup-mistakes')

const REQUEST_STARTED = 'http.server.request.start'
/** An app behind a listener of the user's own is not found: no request after so many pays for the search. */
const MOST_REQUESTS = 100

class SetUpCheck {
  #parts
  #notices
  /** Where each was made, by function. */
  #middlewares = new WeakMap()
  #errorHandlers = new WeakMap()
  #hasErrorHandler = false
  #checked = new WeakSet()
  /** How many requests each app has had before it had a route. */
  #waits = new WeakMap()
  #requestsLeft = MOST_REQUESTS
  #isListening = false
  #onRequest = ({ request, server }) =>
    this.#parts.faults.guard('setup_check', () => this.#onStart(request, server))

  /**
   * @param {{ notices: any, place: any, options: import('../../index.js').ResolvedOptions, endpoints: any, handlers: any,
   *   servers: any, admission: any, faults: any }} parts `place`: of `createSpillway()`
   */
  constructor(parts) {
    this.#parts = parts
    this.#notices = parts.notices
  }

  /** @param {any} place where it was made */
  addMiddleware(middleware, place) {
    this.#middlewares.set(middleware, place)
    this.listen()
    return middleware
  }

  addErrorHandler(handler, place) {
    this.#errorHandlers.set(handler, place)
    this.#hasErrorHandler = true
    this.listen()
    return handler
  }

  /** Until the first request of an app that has to do with us. */
  listen() {
    if (this.#isListening || this.#requestsLeft === 0) return
    this.#isListening = true
    subscribe(REQUEST_STARTED, /** @type {any} */ (this.#onRequest))
  }

  #onStart(request, server) {
    if (--this.#requestsLeft === 0) this.close()
    // A probe or a scraper may be there before the last route is.
    if (this.#parts.endpoints.has(request)) return
    const app = server.listeners('request').find(isExpressApp)
    if (app === undefined) return
    const isAttached = this.#parts.servers.isAttached(server)
    const layout = expressLayout(app)
    if (!hasRoute(layout) || (!isAttached && this.#madeAt(layout) === undefined)) return
    this.close()
    this.#judgeExpress(app, layout, isAttached)
  }

  /**
   * @param {any} req of an app in which our middleware is
   * @param {boolean} isMeasured whether a request is, before the app sees it
   * @returns {boolean} whether the app is done with: a later request of it need not come here
   */
  meetExpress({ app, originalUrl }, isMeasured) {
    if (this.#checked.has(app)) return true
    let isDone = true
    this.#parts.faults.guard('setup_check', () => {
      const layout = expressLayout(app)
      if (hasRoute(layout) && !this.#parts.endpoints.has({ url: originalUrl }))
        this.#judgeExpress(app, layout, isMeasured)
      else isDone = this.#wait(app)
    })
    return isDone
  }

  /** @returns {boolean} whether it has had too many requests without a route to wait any longer */
  #wait(app) {
    const waits = (this.#waits.get(app) ?? 0) + 1
    this.#waits.set(app, waits)
    return waits >= MOST_REQUESTS
  }

  #judgeExpress(app, layout, isMeasured) {
    this.#once(app, () => {
      this.#checkMiddleware(layout, { name: 'express', isMeasured })
      this.#checkErrorHandlers(layout)
      this.#checkFactories(layout)
      const place = this.#madeAt(layout)
      if (place !== undefined && !hasOwnErrorHandler(app, layout)) this.#missErrorHandler(place)
    })
  }

  meetKoa(app, isMeasured) {
    this.#once(app, () => {
      if (Array.isArray(app.middleware)) this.#checkMiddleware(koaLayout(app), { name: 'koa', isMeasured })
    })
  }

  #once(app, check) {
    if (this.#checked.has(app)) return
    this.#checked.add(app)
    this.#parts.faults.guard('setup_check', check)
  }

  #checkMiddleware(layout, { name, isMeasured }) {
    const { admission, handlers, options, place } = this.#parts
    const at = layout.findIndex(({ originals }) => placeIn(this.#middlewares, originals) !== undefined)
    if (at !== -1 && (!isMeasured || admission.asksUser)) {
      const late = lateMiddleware(layout, at, { name, isMeasured })
      this.#tell('late-middleware', placeIn(this.#middlewares, layout[at].originals), late)
    }
    const { allow, ...paths } = options.endpoints
    // Whom `allow` refuses comes to the route of the user's.
    if (allow !== undefined || (at === -1 && !isMeasured)) return
    const behind = isMeasured ? layout : layout.slice(at + 1)
    for (const [path, sentence] of hiddenRoutes(behind, paths, handlers))
      this.#tell('hidden-route', place, sentence, path)
  }

  #checkErrorHandlers(layout) {
    const placeOf = ({ originals }) => placeIn(this.#errorHandlers, originals)
    const isOurs = (row) => placeOf(row) !== undefined
    const at = layout.findLastIndex(isOurs)
    if (at === -1) return
    const place = placeOf(layout[at])
    const second = repeatedErrorHandler(layout, isOurs, this.#parts.options.errors.answer)
    if (second !== undefined) this.#tell('repeated-error-handler', placeOf(second), REPEATED)
    this.#tell('early-error-handler', place, earlyErrorHandler(layout, at))
    for (const row of layout.slice(0, at)) {
      const { layer, isErrorHandler, isAtRoot, originals } = row
      if (!isErrorHandler || !isAtRoot || isOurs(row) || mayPassOn(originals)) continue
      watchErrorHandler(layer, (status) =>
        this.#tell('answering-error-handler', place, answered(layer, status))
      )
    }
  }

  /** One that is given to `app.use` has thrown there; a router takes it. */
  #checkFactories(layout) {
    const isUncalled = ({ originals, inner }) => [...originals, ...inner].some(isFactory)
    if (!layout.some(isUncalled)) return
    this.#hasErrorHandler = true
    this.#tell(
      'uncalled-factory',
      this.#parts.place,
      'A factory of spillway was registered without calling it. Call it: router.use(spillway.errorHandler()).'
    )
  }

  #missErrorHandler(place) {
    if (this.#hasErrorHandler || !this.#parts.options.errors.answer) return
    this.#tell(
      'missing-error-handler',
      place,
      'No error handler is registered: Express answers errors itself, and spillway neither counts nor logs them. ' +
        'Write app.use(spillway.errorHandler()) behind the last route, or createSpillway({ errors: false }).'
    )
  }

  /** Where a middleware of ours was made that is in the app, or in a router of it. */
  #madeAt(layout) {
    return placeIn(
      this.#middlewares,
      layout.flatMap(({ originals, inner }) => [...originals, ...inner])
    )
  }

  #tell(mistake, place, sentence, subject) {
    if (sentence !== undefined) this.#notices.tell(mistake, place, sentence, subject)
  }

  close() {
    this.#requestsLeft = 0
    if (this.#isListening) unsubscribe(REQUEST_STARTED, /** @type {any} */ (this.#onRequest))
    this.#isListening = false
  }
}

function placeIn(places, functions) {
  const ours = functions.find((each) => places.has(each))
  return ours && places.get(ours)
}

/** A mount that serves by itself is one too. */
const hasRoute = (layout) => layout.some(({ routes, isMount }) => routes.length > 0 || isMount)

/** Of the app, of a router in it, or of an app it is mounted in: that answers what routers have not. */
function hasOwnErrorHandler(app, layout) {
  if (layout.some(({ isErrorHandler, inner }) => isErrorHandler || inner.some(takesErrors))) return true
  return app.parent !== undefined && hasOwnErrorHandler(app.parent, expressLayout(app.parent))
}

/** Express goes by the number of parameters. */
const takesErrors = (handler) => handler?.length === 4

const REPEATED =
  'spillway.errorHandler() is registered twice, and no route stands between: the first has had every error that comes to the second. ' +
  'Remove one of them.'

const answered = ({ name }, status) =>
  `Your error handler${name === '<anonymous>' ? '' : ` ${name}`} stands before spillway.errorHandler() and answered ${status} without next(error): ` +
  'spillway neither counts nor logs the errors that end there. Register ours before it, with createSpillway({ errors: false }): ' +
  'then ours passes each error on to yours.'

module.exports = { SetUpCheck }

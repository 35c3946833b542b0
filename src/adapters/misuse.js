'use strict'
// One clear sentence for each way to hand a middleware to the wrong framework.

const { SpillwayError } = require('../errors')
const { isConnectApp, isExpressApp, isKoaApp, isSocketIo } = require('./app-kinds')

const misuse = (message) => new SpillwayError('ERR_SPILLWAY_MISUSE', message)

/** `app.use(spillway.express)` passes the factory itself, which is then called with a request. */
function requireNoArguments(name, count) {
  if (count !== 0) throw uncalled(name, ` It takes no arguments: got ${count}.`)
}

const uncalled = (name, more = '') =>
  misuse(`spillway.${name} was used as the middleware itself. Call it: app.use(spillway.${name}()).${more}`)

const koaInExpress = () =>
  misuse('spillway.koa() was given to Express, Connect or Restify. Use app.use(spillway.express()).')

const expressInKoa = () => misuse('spillway.express() was given to Koa. Use app.use(spillway.koa()).')

const errorsInKoa = () =>
  misuse(
    'spillway.errorHandler() was called without `next`. It is the last middleware of Express or Connect: ' +
      'app.use(spillway.errorHandler()). In Koa, koa() has it in it.'
  )

const errorsOnNoResponse = () =>
  misuse(
    'spillway.errorHandler() was given something else than the response of Node. Behind Fastify, also in a filter of Nest, ' +
      'give it `request.raw`, `reply.raw` and a `next`; where there is no response, as in a resolver of GraphQL, nothing.'
  )

const notExpress = (given) =>
  misuse(
    `spillway.catchAsync() takes what require('express') gives: got ${given === null ? 'null' : typeof given}. ` +
      'Write spillway.catchAsync(express), with the express itself and not an app.'
  )

const notAServer = (given) =>
  misuse(
    'spillway.attach() takes an http, https or http2 server, or what has one inside, such as a Restify, Fastify or Socket.IO ' +
      `server: got ${whatIs(given)}`
  )

/** What it is, and what to write with it. */
function whatIs(given) {
  const listen = 'Write spillway.attach(app.listen(3000)).'
  if (isExpressApp(given)) return `an Express app, which is not listening yet. ${listen}`
  if (isConnectApp(given)) return `a Connect app, which is not listening yet. ${listen}`
  if (isKoaApp(given)) return `a Koa app, which is not listening yet. ${listen}`
  if (isSocketIo(given)) {
    return 'a Socket.IO server without an http server yet. Make it with one, new Server(httpServer), and write spillway.attach(httpServer).'
  }
  if (typeof given?.then === 'function') return `a promise. Await it first. ${listen}`
  if (typeof given === 'function') return `a function, perhaps the app. ${listen}`
  return `${given === null ? 'null' : typeof given}. ${listen}`
}

const notAListener = (given) =>
  misuse(
    `spillway.wrap() takes a request listener: got ${given === null ? 'null' : typeof given}. ` +
      'Write http.createServer(spillway.wrap(app)), for Koa spillway.wrap(app.callback()).'
  )

const noNext = () =>
  misuse(
    'spillway.express() was called without `next`. Around a plain http listener write ' +
      'http.createServer(spillway.wrap(listener)), or pass a `next` that calls your listener.'
  )

module.exports = {
  errorsInKoa,
  errorsOnNoResponse,
  expressInKoa,
  koaInExpress,
  noNext,
  notAListener,
  notAServer,
  notExpress,
  requireNoArguments,
}

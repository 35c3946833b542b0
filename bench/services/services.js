'use strict'
// The services that are measured.

const { withApplicationHeap } = require('./kinds/live-heap')

/**
 * @typedef {object} Load
 * @property {import('./load').Tally} tally
 * @property {() => Promise<void>} start
 * @property {() => void} stop
 */

/**
 * @typedef {object} Service
 * @property {string} name
 * @property {string} title
 * @property {string} unit what the cost is stated of
 * @property {'express' | 'koa'} framework
 * @property {(app: any, given: any) => void | ((server: import('node:http').Server) => any) | Promise<void>}
 *   serve adds the routes; may return what attaches a server of Socket.IO, which it returns
 * @property {(port: number) => Load} load
 * @property {() => Promise<{ given: unknown, stop: () => Promise<void> } | undefined>} [prepare] starts what
 *   the service needs beside it for all runs. Its result is undefined if the machine does not have it
 * @property {string} [needs] what that is
 */

/** @type {Service[]} */
const ALL = [
  require('./kinds/uploads'),
  withApplicationHeap(require('./kinds/uploads')),
  require('./kinds/streams'),
  withApplicationHeap(require('./kinds/streams')),
  require('./kinds/slow-readers'),
  require('./kinds/proxy'),
  require('./kinds/graphql'),
  require('./kinds/koa-session'),
  require('./kinds/rendering'),
  require('./kinds/sse'),
  require('./kinds/socket-io'),
  require('./kinds/postgres'),
  require('./kinds/heap'),
]

/** @type {Record<string, Service>} */
const SERVICES = Object.fromEntries(ALL.map((service) => [service.name, service]))

module.exports = { SERVICES }

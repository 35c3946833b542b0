'use strict'
// Names the routes of every Fastify app, for spillway/register. Fastify publishes each new app on a
// diagnostics channel. A hook before all others then gets the route of each request, however the request
// ends.

const { ROOT } = require('../../core/route/route-node')
const { routeStateOf } = require('../../core/route/route-state')

/**
 * @typedef {{ is404?: boolean, routeOptions?: { url?: string } }} FastifyRequest
 * @typedef {{ raw: import('node:http').ServerResponse }} FastifyReply
 * @typedef {{ addHook: (name: string, hook: (request: FastifyRequest, reply: FastifyReply,
 *   done: () => void) => void) => unknown }} Fastify
 */

/**
 * @param {Fastify} fastify a new app, without hooks and routes
 * @param {() => boolean} isOn whether routes are named now
 */
function nameFastifyRoutes(fastify, isOn) {
  // Hot path: once a request.
  fastify.addHook('onRequest', (request, reply, done) => {
    const routeState = isOn() ? routeStateOf(reply.raw) : undefined
    if (routeState !== undefined && routeState.node === undefined) {
      const url = request.is404 ? undefined : request.routeOptions?.url
      if (typeof url === 'string') routeState.node = ROOT.route(url)
    }
    done()
  })
}

module.exports = { nameFastifyRoutes }

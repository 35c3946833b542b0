'use strict'
// The route of a request, as the application names it. GraphQL needs such names, because it routes by the
// body. So do frameworks whose routers are not instrumented.

const { NAMED } = require('./route-node')
const { routeStateOf } = require('./route-state')

/**
 * Names the route of a request. An error that follows keeps the name; a route that is entered later replaces
 * it.
 *
 * @param {import('./route-state').RoutedResponse | undefined} res
 * @param {unknown} name anything but a non-empty string names nothing
 */
function nameRoute(res, name) {
  const routeState = routeStateOf(res)
  if (routeState === undefined || typeof name !== 'string' || name === '') return
  routeState.node = routeState.errorNode = NAMED.route(name)
}

module.exports = { nameRoute }

'use strict'
// A route as the command line names it: method and template. Two routes with one name are one row.

/** @param {{ method: string | null, route: string | null }} of */
function routeOf({ method, route }) {
  return [method, route ?? '(no route yet)'].filter(Boolean).join(' ')
}

/** @param {{ method: string | null, route: string | null }} a @returns {(b: { method: string | null, route: string | null }) => boolean} */
function isSameRoute(a) {
  return (b) => b.method === a.method && b.route === a.route
}

module.exports = { isSameRoute, routeOf }

'use strict'
// What a snapshot counted, in a shape that one deepEqual compares.

/** Everything counted, as `method route outcome` with how often. */
function outcomesOf({ routes }) {
  const all = {}
  for (const { method, route, outcomes } of routes) {
    for (const [outcome, count] of Object.entries(outcomes))
      if (count > 0) all[`${method} ${route} ${outcome}`] = count
  }
  return all
}

module.exports = { outcomesOf }

'use strict'
// How a service knows the user of a request, by the recipes of docs/recipes.md.

/** How the user is known. With `verifies`, the token is verified with every request. */
const WAYS = {
  'without a user': { hasMiddleware: false },
  'token before the gate, remembered': { hasMiddleware: false, heading: 'Look at the token before the gate' },
  'token before the gate, verified each time': {
    hasMiddleware: false,
    heading: 'Look at the token before the gate',
    verifies: true,
  },
  'express() behind authentication': { hasMiddleware: true, heading: 'Decide after authentication' },
}

module.exports = { WAYS }

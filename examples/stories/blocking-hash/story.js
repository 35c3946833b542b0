'use strict'
// The load of the story, what is compared, and what Spillway has to say.

/** A shop has few log-ins at a time. Meanwhile others look at its products. */
const CLIENTS = 4
const LOOKS_PER_SECOND = 40

module.exports = {
  title: 'A log-in that stops the shop',
  summary: 'pbkdf2Sync in a log-in: every other request waits for it',
  intro:
    'A shop hashes passwords with pbkdf2Sync, on the event loop. Its log-ins are slow, and nobody can tell why its products are ' +
    `slow too. ${CLIENTS} clients log in again and again, and ${LOOKS_PER_SECOND} requests a second come for the products.`,
  runs: [
    {
      name: 'before',
      what: 'pbkdf2Sync',
      isTold: ({ watch }) =>
        watch.found.get('event-loop-blocked')?.route === 'POST /login' &&
        watch.snapshot.stalls.sites.some(({ route }) => route === '/login'),
    },
    { name: 'after', what: 'pbkdf2 in the thread pool', args: ['--fixed'] },
  ],
  load: {
    parts: [
      {
        name: 'POST /login',
        method: 'POST',
        path: '/login',
        body: { name: 'ada', password: 'lovelace' },
        connections: CLIENTS,
      },
      { name: 'GET /products', path: '/products', rate: LOOKS_PER_SECOND },
    ],
  },
  learn: [
    'A synchronous hash of 100 ms is slow for all clients, because nothing else runs meanwhile. Log-ins that arrive together block the ' +
      'loop for the sum of their hashes. Look at the products: their handler does nothing.',
    'The asynchronous hash takes as much CPU, but in the thread pool: on as many cores as are free, four at most. So more log-ins a second ' +
      'are answered than on the event loop, which hashes one at a time, and everything else is quick again.',
    'The log line alone has the function, the line and the route. No profiler was attached.',
  ],
  picture: {
    title: 'Time of GET /products while others log in',
    panels: [{ title: 'p99 of GET /products, ms', part: 'GET /products', figure: 'p99Ms', scale: 'log' }],
  },
}

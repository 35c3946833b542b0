'use strict'
// The table of `npm run bench -- loop-time`: the loop time that Spillway counts for a route,
// beside a CPU profile of the same seconds.

const { byNode, stamp, table } = require('./markdown')

/** When the work of the application `timers` runs, by route. */
const TIMERS = {
  '/steps': 'after each of four timers, the last one before the answer',
  '/late': 'after one timer, before the answer',
}
/** What is special about the work of each other application. */
const WORKS = {
  bodies: 'a body of 200 kB is parsed',
  calls: 'between two calls by `fetch`',
  pools: 'between queries of a pool of pg',
  pages: 'a page is rendered, ejs',
  graphql: 'in resolvers of GraphQL',
}

function sectionOf([{ rows, ...results }], major) {
  const cells = rows.map(({ application, route, profiledMs, countedMs }) => [
    `\`${route}\`: ${TIMERS[route] ?? WORKS[application]}`,
    profiledMs.toFixed(0),
    countedMs.toFixed(0),
    (countedMs / profiledMs).toFixed(2),
  ])
  return [
    table([`Node ${major}, route`, 'CPU profile, ms', 'counted, ms', 'ratio'], cells),
    '',
    stamp(results, 'loop-time'),
  ].join('\n')
}

const loopTimeTable = () => byNode(['loop-time'], sectionOf)

module.exports = { loopTimeTable }

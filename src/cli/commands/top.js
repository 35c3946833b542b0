'use strict'
// `spillway top`: a live view on a terminal, a table or lines in a pipe.

const { LiveTop } = require('../top/live-top')
const { wordOf } = require('../options')
const { plainTop, watchLines } = require('../top/plain-top')
const { FIRST_SORT, SORTS } = require('../top/route-table')

/** @type {import('../commands').Command} */
const top = {
  name: 'top',
  about: 'a live view: health, requests, latencies, event loop, heap and routes',
  more: [
    'Keys: q or Ctrl-C quits, s sorts by the next column, up and down select a route, Enter opens it,',
    'd shows what the doctor found, Esc goes back. In a pipe it prints the table once.',
  ],
  options: {
    sort: { takes: 'COLUMN', read: wordOf(SORTS), about: `sort by ${SORTS.join(', ')}` },
    watch: { about: 'print one line a second instead' },
  },
  examples: [
    ['spillway top', 'the service at port 9464'],
    ['spillway top 9465 --sort loop', 'which route uses the event loop most'],
    ['SPILLWAY_ADMIN_TOKEN=... spillway top http://10.0.0.7:9464', 'another machine'],
    ['spillway top --watch >> figures.txt', 'one line a second'],
  ],
  run(context) {
    const { values, out } = context
    const sort = values.sort ?? FIRST_SORT
    if (values.watch) return watchLines(context)
    return out.isScreen && !values.json ? new LiveTop(context, sort).run() : plainTop(context, sort)
  },
}

module.exports = { top }

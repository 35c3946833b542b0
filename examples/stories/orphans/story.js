'use strict'
// The load of the story, what is compared, and what Spillway has to say.

const KILOBYTES = 100
const ITEMS = Array.from({ length: KILOBYTES * 20 }, (_, id) => ({ id, count: id, kind: `kind ${id % 7}` }))
/** How long a player waits. */
const TIMEOUT_MS = 3000

const isNamed = ({ watch }) => watch.found.get('orphaned-requests')?.route === 'POST /save/:player'

module.exports = {
  title: 'Saves that nobody answers',
  summary: 'an error that nobody catches: no answer, and memory that stays',
  intro:
    'A game server on Express 4. One version of the game sends saves without `items`: the async handler throws, and nobody catches it. ' +
    'The player waits for an answer that never comes, and the server keeps what the handler held. Three runs: rejections that are only ' +
    'warned of, as Node did until version 14; the default of Node since 15; and mended.',
  runs: [
    {
      name: 'warned',
      what: 'node --unhandled-rejections=warn, as until Node 14',
      nodeFlags: ['--unhandled-rejections=warn'],
      isTold: isNamed,
    },
    { name: 'default', what: 'Node since 15: the rejection ends the process', seconds: 3 },
    {
      name: 'after',
      what: 'spillway.catchAsync() and spillway.errorHandler()',
      args: ['--fixed'],
      isTold: ({ watch }) => watch.found.has('errors'),
    },
  ],
  seconds: 14,
  load: {
    parts: [
      { name: 'GET /rewards', path: '/rewards/{n}', rate: 60 },
      {
        name: 'good saves',
        method: 'POST',
        path: '/save/{n}',
        rate: 20,
        body: { items: ITEMS },
        timeoutMs: TIMEOUT_MS,
      },
      {
        name: 'malformed saves',
        method: 'POST',
        path: '/save/{n}',
        rate: 20,
        body: { things: ITEMS },
        timeoutMs: TIMEOUT_MS,
      },
    ],
  },
  learn: [
    'Express 4 does not see promises. An async handler that throws leaves its request without an answer, and a Node of today then ends ' +
      'the whole process: one malformed body takes all players down.',
    'A request that is never answered keeps what it holds. Its route looks healthy, because what never ends is in no histogram: only the ' +
      'clients know. `orphaned-requests` counts those that gave up.',
    '`catchAsync()` and `errorHandler()` turn it into a 500, a line in the log and a finding `errors` with the name of the error. What is ' +
      'left is to check the body, and to answer 400.',
  ],
  picture: {
    title: 'Memory and answers while some saves are malformed',
    panels: [
      {
        title: 'p99 of malformed saves, ms',
        without: 'default',
        part: 'malformed saves',
        figure: 'p99Ms',
        scale: 'log',
      },
      { title: 'memory of the process, MB', without: 'default', figure: 'rssBytes' },
    ],
  },
}

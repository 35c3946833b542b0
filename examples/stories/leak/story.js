'use strict'
// The load of the story, what is compared, and what Spillway has to say. When the doctor warns of the heap, a
// heap profile is taken, as by `npx spillway heap`.

const { setTimeout: delay } = require('node:timers/promises')
const { takeProfile } = require('../frame/profile')

const HEAP_MEBIBYTES = 160
const HEAP_MEGABYTES = Math.round((HEAP_MEBIBYTES * 2 ** 20) / 1e6)
/** Heap limit, as a container of 256 MB would have it. */
const SMALL_HEAP = [`--max-old-space-size=${HEAP_MEBIBYTES}`, '--max-semi-space-size=4']
const PAGES_PER_SECOND = 120
const PROFILE_SECONDS = 6
const LOOK_MS = 250

const isWarned = (watch) => watch.found.has('heap-growing')

module.exports = {
  title: 'A cache without a limit',
  summary: 'a heap that grows until the process ends, or is replaced',
  intro:
    `A service keeps every page that it has rendered. It is a primary with one worker, whose heap may have ${HEAP_MEGABYTES} MB, and ` +
    `${PAGES_PER_SECOND} requests a second come, each for another page. Before: the worker runs until its heap is full. After: the same ` +
    'leak, and Spillway replaces the worker in time.',
  runs: [
    {
      name: 'before',
      what: 'until the heap is full',
      nodeFlags: SMALL_HEAP,
      isTold: ({ extra }) => extra !== undefined,
    },
    {
      name: 'after',
      what: 'memory.recycleAt, clusterPrimary()',
      nodeFlags: SMALL_HEAP,
      args: ['--recycle'],
      isTold: ({ application }) => application.logged.some(({ event }) => event === 'replaced'),
    },
  ],
  seconds: 60,
  isQuiet: true,
  says: ['replaced'],
  load: { parts: [{ name: 'GET /pages', path: '/pages/{n}', rate: PAGES_PER_SECOND }] },
  async meanwhile({ watch, load, run }) {
    if (run.name !== 'before') return undefined
    let hasEnded = false
    load.ended.finally(() => {
      hasEnded = true
    })
    while (!isWarned(watch) && !hasEnded) await delay(LOOK_MS)
    if (!isWarned(watch)) return undefined
    const { functions } = await takeProfile(watch, 'heap', PROFILE_SECONDS)
    const [{ name, file, line, totalBytes, totalShare }] = functions
    return {
      functions: functions.slice(0, 5),
      said: {
        heap: `${Math.round(totalShare * 100)} % of what was allocated in ${PROFILE_SECONDS} seconds and stays is of ${name} (${file}:${line}): ${(totalBytes / 1e6).toFixed(1)} MB`,
      },
    }
  },
  learn: [
    'The heap after a collection is what counts: it rises like stairs. Spillway says how long it will still last.',
    'A heap profile of some seconds names the function whose objects stay. It needs no heap snapshot, which would block the process and ' +
      'double its memory.',
    'Recycling is no mending. It gives the time to mend: the new worker listens before the old one drains, so no request fails.',
  ],
  picture: {
    title: 'The heap after collections',
    panels: [
      { title: 'heap after a collection, MB', figure: 'heapBytes' },
      { title: 'errors a second', part: 'GET /pages', figure: 'errors' },
    ],
  },
}

'use strict'
// The same service behind four frameworks at ten times its load, with Spillway off and on, and beside other
// packages where bench/peers is installed.

const path = require('node:path')
const { hasPeer } = require('../../../bench/support/peers')
const { wrapped } = require('../frame/wrapped')

const RESTIFY_WORKS = Number(process.versions.node.split('.')[0]) < 24
const OFF = { policy: 'off', what: 'Spillway off' }
const ON = { policy: 'spillway', what: 'Spillway on' }
const FRAMEWORKS = ['http', 'express', 'koa', ...(RESTIFY_WORKS ? ['restify'] : [])]
const PEERS = [
  { framework: 'express', policy: 'overload-protection' },
  { framework: 'express', policy: 'toobusy-js' },
  { framework: 'fastify', policy: 'under-pressure' },
]
/** The doctor judges five seconds at least. On a busy machine the overload needs some seconds too. */
const DOCTOR_SECONDS = 6
const hasPeers = ['overload-protection', 'toobusy-js', '@fastify/under-pressure', 'fastify'].every(hasPeer)

const runOf = ({ framework, policy, what = policy }) => ({
  name: `${framework}, ${what}`,
  framework,
  what,
  args: ['--framework', framework, '--policy', policy],
  isSpillway: policy === 'spillway',
  // Spillway says the same about each framework.
  isSilent: policy !== 'spillway' || framework !== 'express',
  secondsAre: 'of overload, and some before and after it',
  shortSeconds: policy === 'spillway' ? DOCTOR_SECONDS : 1.5,
})
const spillwayRuns = FRAMEWORKS.flatMap((framework) =>
  [OFF, ON].map((policy) => runOf({ framework, ...policy }))
)

/** A request is in time within 250 ms of when it was due. */
const MAX_LAG_MS = 25
const lagLine = ({ name, sendLagP99Ms }) =>
  `${name}: the clients sent up to ${Math.round(sendLagP99Ms)} ms late, which counts as time of the server.`

/** A run that was stopped has no shares. */
const percent = (share) => (Number.isFinite(share) ? `${Math.round(100 * share)} %` : '-')
const COLUMNS = [
  ['behind', ({ framework }) => framework],
  ['policy', ({ what }) => what],
  ['answers', ({ capacity }) => `${Math.round(capacity)}/s`],
  ['in time', ({ good, seconds, capacity }) => percent(good / seconds / capacity)],
  ['late', ({ late, seconds, capacity }) => percent(late / seconds / capacity)],
  ['p99', ({ parts: [{ p99Ms }] }) => (p99Ms === null ? '-' : `${Math.round(p99Ms)} ms`)],
  ['503', ({ parts: [{ rejected }], offered }) => percent(rejected / offered)],
  ['/livez', ({ probes }) => `${probes.answered}/${probes.sent}`],
]
const LEFT = 2
const LEGEND = [
  'answers: at most, without overload. It is the mean of a measurement before the overload and one after it. The first of them sets the load.',
  'in time, late: at ten times the load, as shares of `answers`. More than 100 % means that the machine changed its speed meanwhile.',
  'p99: of what was answered with 200. 503: of all requests.',
  '/livez: answered of sent, each within a second.',
]

module.exports = {
  title: 'Ten times the load',
  summary: 'ten times the load, behind four frameworks and beside peers',
  intro:
    'A search takes some milliseconds of CPU. First each server is asked for as much as it can answer, then for ten times as much, as after a ' +
    'campaign. A client leaves after 250 ms. Without a gate each request waits behind all others, so that none is in time. ' +
    (hasPeers ? '' : 'To see other packages beside it: npm ci --prefix bench/peers.'),
  runs: [...spillwayRuns, ...(hasPeers ? PEERS.map(runOf) : [])],
  shortRuns: spillwayRuns.filter(({ framework, isSpillway }) => isSpillway || framework === 'express'),
  seconds: 5,
  load: { script: path.join(__dirname, 'load.js') },
  learn: [
    'A server that takes every request answers none in time: the work of each second goes to clients that have left.',
    'Rejecting is cheap, about a hundredth of the work. So at ten times the load most of the capacity still goes to answers in time.',
    'The probe (/livez) must not fail in an overload. An orchestrator would restart the server, and leave more load for the others.',
  ],
  table: (told) => {
    const rows = rowsOf(told)
    const widths = COLUMNS.map((_, i) => Math.max(...rows.map((cells) => cells[i].length)) + 2)
    const line = (cells) =>
      cells
        .map((cell, i) => (i < LEFT ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
        .join('')
        .trimEnd()
    return [
      ...rows.map(line),
      '',
      ...LEGEND.flatMap((text) => wrapped(text, { first: '  ', indent: '    ' })),
      ...told.runs.filter(({ sendLagP99Ms }) => sendLagP99Ms > MAX_LAG_MS).map(lagLine),
    ]
  },
  markdown: (told) => {
    const [head, ...rows] = rowsOf(told)
    const marks = head.map((_, i) => (i < LEFT ? '---' : '---:'))
    return [head, marks, ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  },
  picture: {
    title: 'Answers in time at ten times the load',
    bars: (told) =>
      told.runs.map(({ name, what, good, seconds, capacity }) => ({
        name,
        value: Math.round((100 * good) / seconds / capacity),
        isOurs: what === ON.what,
      })),
    barsTitle: 'Answered within 250 ms at ten times the load, in % of its capacity',
  },
}

function rowsOf({ runs }) {
  const byName = new Map(module.exports.runs.map((run) => [run.name, run]))
  const full = runs.map((run) => ({ ...byName.get(run.name), ...run }))
  return [COLUMNS.map(([head]) => head), ...full.map((run) => COLUMNS.map(([, of]) => of(run)))]
}

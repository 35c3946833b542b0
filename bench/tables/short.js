'use strict'
// The figures that README.md shows itself, of the leading Node. docs/benchmarks.md, docs/costs.md and
// docs/costs-of-parts.md have the others.

const { leading, majorOf, share, stamp, table, whole } = require('./markdown')
const { ratioCell } = require('./overload')
const { startSentence } = require('./start')

const DISTURBED = 'Figures with "?" were disturbed by other processes.\n\n'
const LOADS = [0.8, 1.2, 2, 10]
const SLIGHT_LOADS = [1.2, 2]
const POLICIES = {
  none: 'no policy',
  attach: '**spillway**',
  'overload-protection': 'overload-protection',
  'toobusy-js-20': 'toobusy-js, 20 ms',
  'under-pressure': '@fastify/under-pressure, 100 ms',
}

/** Goodput of the best known policies, on the work that shows most. */
function summaryTable() {
  const { rows, deadlineMs, rounds, seconds, ...results } = leading('overload-cpu')
  const find = (policy, multiple) =>
    rows.find((row) => row.work === 'cpu' && row.policy === policy && row.multiple === multiple)
  const most = LOADS.at(-1)
  const cells = Object.entries(POLICIES).map(([policy, name]) => [
    name,
    ...LOADS.map((multiple) => ratioCell(find(policy, multiple))),
    whole(find(policy, most).p99Ms),
  ])
  const isDisturbed = cells.flat().some((cell) => cell.endsWith('?'))
  return [
    `Requests answered within ${deadlineMs} ms, as a share of the server's capacity. The columns are offered loads, as multiples of the capacity. At 0.8x, a share of about 0.80 means that every request was answered in time. A share can pass 1, because the capacity is only estimated, in a short run beforehand. Each request takes 2 ms of CPU behind Express 5:`,
    '',
    table(
      [
        `Node ${majorOf(results)}, offered load`,
        ...LOADS.map((multiple) => `${multiple}x`),
        `p99 at ${most}x, ms`,
      ],
      cells
    ),
    '',
    `${exceptionOf(find)}${isDisturbed ? DISTURBED : ''}${stamp(results, 'overload')}`,
  ].join('\n')
}

/** Where the simplest policy serves more. */
function exceptionOf(find) {
  const ratioOf = (policy, multiple) => find(policy, multiple).ratio
  const behind = SLIGHT_LOADS.filter(
    (multiple) => ratioOf('overload-protection', multiple) > ratioOf('attach', multiple)
  )
  if (behind.length === 0) return ''
  const both = (policy) => behind.map((multiple) => share(ratioOf(policy, multiple))).join(' and ')
  return (
    `At ${behind.map((multiple) => `${multiple}x`).join(' and ')}, the package overload-protection serves ${both('overload-protection')}. Spillway serves ${both('attach')}. ` +
    'The package overload-protection only measures the loop delay with a timer, and compares it with a limit. ' +
    "Such a check costs less than Spillway's queue. " +
    'The queue costs most in the first seconds of an overload, while V8 compiles its code.\n\n'
  )
}

/** What the recommended set-up costs a request and a start. */
function costSentence() {
  const { rows, ...results } = leading('overhead-recommended')
  const added = (variant, connections) =>
    rows
      .find((row) => row.variant === variant && row.connections === connections)
      .addedMicroseconds.toFixed(1)
  const [ours, theirs] = ['spillway attach + express() + errorHandler()', 'express-prom-bundle']
  return (
    'The recommended set-up is `attach`, `express()` and `errorHandler()`. ' +
    `It adds ${added(ours, 1)} µs of CPU to a hello-world request with one connection, and ${added(ours, 32)} µs with 32. ` +
    `express-prom-bundle adds ${added(theirs, 1)} and ${added(theirs, 32)}. ` +
    `Requests of the services above cost more, because they take more loop turns and events. ${stamp(results, 'overhead')} ${startSentence()} ` +
    'An idle process is not woken by any timer. [What each part costs](docs/costs.md#what-a-request-costs).'
  )
}

module.exports = { costSentence, summaryTable }

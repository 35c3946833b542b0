'use strict'
// The tables of `npm run bench -- overload`: every policy on the work `cpu`, the other works, and the works
// with compiled code.

const { byNode, distinct, percent, share, stamp, table, whole } = require('./markdown')

const POLICIES = {
  none: 'no policy',
  attach: '**spillway, `attach`**',
  middleware: '**spillway, `express()` alone**',
  behind: 'spillway, `express()` behind another middleware',
  'overload-protection': 'overload-protection',
  'overload-protection-100': 'overload-protection, 100 ms',
  'toobusy-js': 'toobusy-js',
  'toobusy-js-20': 'toobusy-js, 20 ms',
  'under-pressure': '@fastify/under-pressure, 100 ms',
  heavy: "@hapi/heavy's rule, 100 ms",
}
const WORKS = ['bimodal', 'await', 'pool', 'mixed', 'gc', 'upload']
const SETTLED_WORKS = ['cpu', 'await', 'mixed', 'gc', 'upload']

const ratioCell = (row) =>
  row === undefined ? '–' : `${share(row.ratio)}${row.calmRounds === 0 ? ' ?' : ''}`
const boundCell = ({ bound }) => (bound === null ? '–' : share(bound))
const micros = (ms) => (ms * 1000).toFixed(0)
const findIn = (rows) => (work, multiple, policy) =>
  rows.find((row) => row.work === work && row.multiple === multiple && row.policy === policy)

const overloadTable = () => byNode(['overload-cpu'], overloadSection)

function overloadSection([{ rows, deadlineMs, rejections, ...results }], major) {
  const find = findIn(rows)
  const cpu = rows.filter(({ policy }) => policy in POLICIES)
  const multiples = distinct(cpu.map(({ multiple }) => multiple))
  const most = multiples.at(-1)
  const costOf = (policy) => micros(rejections[policy])
  const boundOf = (policy) => share(find('cpu', most, policy).bound)
  const head = [
    `Node ${major}, offered load`,
    ...multiples.map((multiple) => `${multiple}x`),
    `p99 at ${most}x, ms`,
    'probes answered',
  ]
  const cells = distinct(cpu.map(({ policy }) => policy)).map((policy) => [
    POLICIES[policy],
    ...multiples.map((multiple) => ratioCell(find('cpu', multiple, policy))),
    whole(find('cpu', most, policy).p99Ms),
    percent(find('cpu', most, policy).probes, 0),
  ])
  return [
    `Requests answered within ${deadlineMs} ms, as a share of the capacity. Each request burns 2 ms of CPU behind Express 5:`,
    '',
    table(head, cells),
    '',
    `A rejection costs ${costOf('attach')} µs of CPU with \`attach\`, ${costOf('middleware')} with \`express()\` alone, ` +
      `and ${costOf('behind')} behind another middleware. It costs ${costOf('bare')} in a bare \`http\` server that sends the same bytes. ` +
      `At ${most} times the load most requests have to be rejected, which takes CPU too. The best possible goodput there is ` +
      `${boundOf('attach')} with \`attach\`, ${boundOf('middleware')} with \`express()\` alone and ${boundOf('behind')} behind ` +
      `another middleware. ${roundsOf(results)}`,
  ].join('\n')
}

const worksTable = () =>
  byNode(
    WORKS.map((work) => `overload-${work}`),
    worksSection
  )

function worksSection(all, major) {
  const rows = all.flatMap((results) => results.rows)
  const find = findIn(rows)
  const head = [
    `Node ${major}, work`,
    'load',
    'no policy',
    'overload-protection',
    '**spillway**',
    'bound',
    'shed',
    'p99, ms',
    'probes',
    '**`express()` alone**',
    'bound',
    'p99, ms',
  ]
  const cellsOf = (row) => {
    const of = (policy) => find(row.work, row.multiple, policy)
    return [
      row.work,
      `${row.multiple}x`,
      ratioCell(of('none')),
      ratioCell(of('overload-protection')),
      `**${ratioCell(row)}**`,
      boundCell(row),
      percent(row.shed),
      whole(row.p99Ms),
      percent(row.probes, 0),
      `**${ratioCell(of('middleware'))}**`,
      boundCell(of('middleware')),
      whole(of('middleware').p99Ms),
    ]
  }
  const costs = all.filter(({ work }) => work in COSTS).flatMap((results) => [costLine(results), ''])
  return [
    table(head, rows.filter(({ policy }) => policy === 'attach').map(cellsOf)),
    '',
    ...costs,
    byRun(all)
      .map((alike) => `${worksOf(alike)}: ${roundsOf(alike[0])}`)
      .join('\n\n'),
  ].join('\n')
}

/**
 * Where memory is short, a rejection costs more than in a loop of 16 connections (bench/overload/grid.js).
 */
const COSTS = {
  gc: '',
  upload:
    ' These costs include reading the body, and depend on how many bodies are read in one loop turn. So the bound is rough.',
}

function costLine({ work, rows, rejections }) {
  const costOf = (policy) => {
    const costs = rows.filter((row) => row.policy === policy && row.multiple > 1)
    const each = costs.map(({ rejectionMs, multiple }) => `${micros(rejectionMs)} µs at ${multiple}x`)
    return `${each.join(' and ')} (${micros(rejections[policy])} alone)`
  }
  return (
    `For \`${work}\`, a rejection under load costs ${costOf('attach')}. With \`express()\` alone it costs ${costOf('middleware')}. ` +
    `The bound subtracts these costs.${COSTS[work]}`
  )
}

/**
 * After a second of load, half of the code that runs then is not compiled yet. This table begins when it is.
 */
const settledTable = () =>
  byNode(
    SETTLED_WORKS.map((work) => `overload-settled-${work}`),
    settledSection
  )

function settledSection(all, major) {
  const head = [
    `Node ${major}, work`,
    'load',
    'no policy',
    '**`attach`**',
    'bound',
    'shed',
    'p99, ms',
    'probes',
  ]
  const cellsOf = (row, rows) => [
    row.work,
    `${row.multiple}x`,
    ratioCell(findIn(rows)(row.work, row.multiple, 'none')),
    `**${ratioCell(row)}**`,
    share(row.bound),
    percent(row.shed),
    whole(row.p99Ms),
    percent(row.probes, 0),
  ]
  const attached = ({ rows }) => rows.filter(({ policy }) => policy === 'attach')
  const runOf = ({ rounds, seconds, settle, ...results }) =>
    `medians of ${rounds} rounds of ${seconds} s, from ${settle} s after the step. ` +
    stamp(results, `overload --settle ${settle}`)
  return [
    table(
      head,
      all.flatMap((each) => attached(each).map((row) => cellsOf(row, each.rows)))
    ),
    '',
    byRun(all)
      .map((alike) => `${worksOf(alike)}: ${runOf(alike[0])}`)
      .join('\n\n'),
  ].join('\n')
}

/**
 * Groups the results of works that were measured alike on the same day and machine: each work has its own
 * run.
 */
function byRun(all) {
  const keyOf = ({ date, machine, rounds, seconds }) => [date, machine.platform, rounds, seconds].join()
  return distinct(all.map(keyOf)).map((key) => all.filter((results) => keyOf(results) === key))
}

const worksOf = (all) => all.map(({ work }) => `\`${work}\``).join(', ')

const roundsOf = ({ rounds, seconds, ...results }) =>
  `${rounds === 1 ? 'One round' : `Medians of ${rounds} interleaved rounds`} of ${seconds} s, from a second after the step. ` +
  `Figures with "?" were disturbed in every round by other processes. ${stamp(results, 'overload')}`

module.exports = { overloadTable, ratioCell, settledTable, worksTable }

'use strict'
// The first page of a report. It says which run the report is about. It shows the figures of the whole run,
// perhaps beside those of an earlier run, and the findings.

const { NONE, bytes, count, duration, figure, number, percent, span } = require('../../../core/readable')
const { coversOf, makeSection, makeTable } = require('./table')
const { html, withCode } = require('./markup')

/**
 * @import { ReleaseSnapshot } from '../../../../index.js'
 * @import { Run } from './run'
 * @import { Sighting } from './sightings'
 * @import { Times } from './times'
 *
 * @typedef {number | null | undefined} Figure
 * @typedef {object} SummaryRow
 * @property {string} name
 * @property {(run: Run) => Figure} read
 * @property {(value: Figure) => string} write
 * @property {number} [isBetter] 1 if more is better, -1 if less is
 * @property {boolean} [isCount]
 */

const LATENCIES = /** @type {const} */ (['p50Ms', 'p95Ms', 'p99Ms', 'p999Ms', 'maxMs'])
const LATENCY_NAMES = {
  meanMs: 'mean',
  p50Ms: 'p50',
  p95Ms: 'p95',
  p99Ms: 'p99',
  p999Ms: 'p99.9',
  maxMs: 'max',
}
const MIN_CHANGE = 0.005
/** A smaller change may be chance, and has no colour. */
const MIN_TELLING = 0.05
const WORDS = { high: '▲ high', medium: '● medium', low: '○ low' }

/** @param {Run} run */
const titleOf = ({ title }) => title ?? 'Load test report'
/** @param {ReleaseSnapshot} release */
const nameOf = ({ version, revision }) => [version, revision.slice(0, 10)].filter(Boolean).join(' ')

/** @param {Run} run @param {Times} times */
function makeHead(run, times) {
  const { from, to, address, command, process, releases } = run
  const release = nameOf(releases.current)
  return html`<header><h1>${titleOf(run)}</h1>
<p>${times.moment(from)} to ${times.time(to)} (${span(run.seconds)}). Times are ${times.name}.</p>
<p>${process.service !== '' && `${process.service}, `}${release !== '' && `release ${release}, `}process ${process.pid} on ${process.host}${address !== null && `, asked at ${address}`}.
Node ${process.node}, spillway ${process.spillway}, ${process.platform}, ${process.cpus} CPUs (${process.cpuModel}), ${bytes(process.memoryBytes)}.</p>
${command !== null && html`<p>Command: <code>${command}</code></p>`}</header>
`
}

/** @param {Run} run */
function makeNotices({ notices, workers }) {
  const all =
    workers > 1
      ? [
          `These are the figures of one of ${workers} workers: the other workers answered a part of the requests.`,
          ...notices,
        ]
      : notices
  return all.length > 0 && html`<ul class="notices">${all.map((notice) => html`<li>${notice}</li>`)}</ul>`
}

/**
 * The figures of the whole run: how each is written, and whether a higher value is better.
 *
 * @type {SummaryRow[]}
 */
const SUMMARY = [
  { name: 'requests', read: ({ requests }) => requests.count, write: count, isCount: true },
  { name: 'requests a second', read: ({ requests }) => requests.perSecond, write: number, isBetter: 1 },
  {
    name: 'errors',
    read: ({ requests }) => shareOf(requests.errors, requests.count),
    write: percent,
    isBetter: -1,
  },
  {
    name: 'shed',
    read: ({ requests }) => shareOf(requests.shed, requests.count + requests.shed),
    write: percent,
    isBetter: -1,
  },
  ...LATENCIES.map((key) => ({
    name: LATENCY_NAMES[key],
    read: (/** @type {Run} */ { requests }) => requests.latencies?.[key],
    write: duration,
    isBetter: -1,
  })),
  {
    name: 'event loop busy, median',
    read: (run) => middleOf(run, 'Loop busy'),
    write: percent,
    isBetter: -1,
  },
  { name: 'stalled in sum', read: stalledMs, write: duration, isBetter: -1 },
  { name: 'memory at most', read: (run) => run.curves.figures.Memory[0]?.most, write: bytes, isBetter: -1 },
]

/** @param {number} part @param {number} all */
const shareOf = (part, all) => (all === 0 ? 0 : part / all)
/** @param {Run} run @param {string} title */
const middleOf = ({ curves }, title) => curves.figures[title][0]?.median

/** @param {Run} run */
function stalledMs({ curves }) {
  const column = curves.columns.indexOf('stallMs')
  const values = curves.rows.map((row) => row[column])
  return values.every((value) => value === null)
    ? null
    : values.reduce((/** @type {number} */ sum, value) => sum + (value ?? 0), 0)
}

/** @param {Run} run @param {Times} times @param {Run | undefined} baseline */
function makeSummary(run, times, baseline) {
  const { requests, covers } = run
  const counted = requests.isBySeconds
    ? 'Counts add up the requests of each second of the run.'
    : coversOf(run, times).run
  const latencies = covers === 'run' ? '' : ` Latencies: ${coversOf(run, times)[covers].toLowerCase()}`
  const rows = SUMMARY.map((row) => {
    const value = row.read(run)
    if (baseline === undefined) return [row.name, row.write(value)]
    const before = row.read(baseline)
    return [row.name, row.write(before), row.write(value), changeOf(before, value, row)]
  })
  const heads = baseline === undefined ? ['', 'this run'] : ['', 'before', 'this run', 'change']
  const about =
    baseline &&
    html`<p class="about">Before: ${titleOf(baseline)}, ${times.moment(baseline.from)}, ${span(baseline.seconds)}${
      nameOf(baseline.releases.current) !== '' && `, release ${nameOf(baseline.releases.current)}`
    }.${baseline.covers !== 'run' && ' The latencies of the earlier report do not cover all of its run.'}</p>`
  return makeSection(
    'summary',
    'Summary',
    counted + latencies,
    about,
    makeTable({ caption: 'The whole run', heads, rows, isSmall: true })
  )
}

/**
 * Says by how much a figure has changed. The colour says whether the change is an improvement.
 *
 * @param {Figure} before @param {Figure} after @param {Pick<SummaryRow, 'isBetter' | 'isCount'>} figure
 */
function changeOf(before, after, { isBetter = 0, isCount = false }) {
  if (isCount || !Number.isFinite(before) || !Number.isFinite(after)) return ''
  if (before === 0) return after === 0 ? '=' : html`<span class="${isBetter > 0 ? 'good' : 'bad'}">new</span>`
  const ratio = /** @type {number} */ (after) / /** @type {number} */ (before)
  if (Math.abs(ratio - 1) < MIN_CHANGE) return '='
  const words = ratio >= 2 ? `× ${number(ratio)}` : `${ratio > 1 ? '+' : '−'}${percent(Math.abs(ratio - 1))}`
  if (Math.abs(ratio - 1) < MIN_TELLING) return words
  return html`<span class="${ratio > 1 === isBetter > 0 ? 'good' : 'bad'}">${words}</span>`
}

/** @param {Run} run @param {Times} times */
function makeFindings(run, times) {
  const { findings, isJudged } = run
  if (!isJudged) {
    return makeSection(
      'findings',
      'Findings',
      'The doctor judges the last minute only, and this run ended earlier.'
    )
  }
  const about =
    run.eventsCover === 'run'
      ? 'What the doctor found in this run. The doctor judges the last minute, every few seconds.'
      : `What the doctor found in the last minute, at ${times.time(run.to)}. The doctor had not been asked before.`
  if (findings.length === 0) {
    const words = run.hasVerdict
      ? 'No problem was found.'
      : 'There was too little traffic for the doctor to tell.'
    return makeSection('findings', 'Findings', about, html`<p>${words}</p>`)
  }
  return makeSection(
    'findings',
    findings.length === 1 ? '1 finding' : `${findings.length} findings`,
    about,
    html`<ol class="findings">${findings.map((finding) => makeFinding(finding, times, run.eventsCover === 'run'))}</ol>`
  )
}

/** @param {Sighting} finding @param {Times} times @param {boolean} hasTimes */
function makeFinding(finding, times, hasTimes) {
  const { severity, summary, advice, effectOf, firstAt, lastAt, wasThere } = finding
  const seen = `Seen from ${times.time(firstAt)} to ${times.time(lastAt)}.${wasThere ? ' It was already there when the run began.' : ''}`
  const rows = finding.evidence.map(
    (each) => html`<tr><th scope="row">${each.name}</th><td>${figure(each)}</td></tr>`
  )
  return html`<li class="${severity}"><p><strong class="badge">${WORDS[severity] ?? NONE}${effectOf === null ? '' : ', effect'}</strong> ${withCode(summary)}</p>
${hasTimes && html`<p class="about">${seen}</p>`}
<table class="facts"><caption class="unseen">Evidence</caption><tbody>${rows}</tbody></table>
<p>${withCode(advice)}</p>${effectOf !== null && html`<p class="about">An effect of ${effectOf}.</p>`}</li>`
}

module.exports = { changeOf, makeFindings, makeHead, makeNotices, makeSummary, titleOf }

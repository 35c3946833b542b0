'use strict'
// End of a report: the curves as a table, the release before this one, and the options in force.

const { NONE, count, duration, percent, routeName } = require('../../../core/readable')
const { CHARTS } = require('../page/chart-list')
const { html } = require('./markup')
const { pointsOf } = require('./run-curves')
const { makeFacts, makeSection, makeTable } = require('./table')

/**
 * @import { ReleaseSnapshot } from '../../../../index.js'
 * @import { Run } from './run'
 * @import { Times } from './times'
 */

const MAX_STEPS = 24
const MAX_ROUTES = 25

/** The curves as a table, for readers who cannot see them. @param {Run} run @param {Times} times */
function makeSteps({ curves }, times) {
  const points = pointsOf(curves)
  if (points.length === 0) return null
  const every = Math.ceil(points.length / MAX_STEPS)
  const shown = points.filter((_, i) => i % every === every - 1 || i === points.length - 1)
  const columns = CHARTS.flatMap(({ title, series, format }) =>
    series.map((each) => ({ title, format, ...each }))
  )
  const rows = shown.map((point) => [
    times.time(point.at),
    ...columns.map(({ read, format }) => format(read(point))),
  ])
  const what = curves.stepSeconds === 1 ? 'second' : `${curves.stepSeconds} seconds`
  return makeSection(
    'steps',
    'The curves as a table',
    `Each row shows the ${what} before its time.${every > 1 ? ` Of every ${every} rows, only the last one is shown.` : ''}`,
    makeTable({
      caption: 'The curves as a table',
      heads: [
        { title: 'at', isText: true },
        ...columns.map(({ title, label }) => (label === '' ? title : `${title}: ${label}`)),
      ],
      rows,
    })
  )
}

/** @param {ReleaseSnapshot} release */
const nameOf = ({ version, revision }) =>
  [version, revision.slice(0, 10)].filter(Boolean).join(' ') || 'not named'

/** @param {Run} run @param {Times} times */
function makeReleases({ releases }, times) {
  const { current, previous, routes } = releases
  if (previous === null) return null
  /** @param {string} title @param {ReleaseSnapshot} release */
  const rowOf = (title, { since, requests }) => [
    title,
    times.moment(since),
    count(requests.count),
    duration(requests.p50Ms),
    duration(requests.p99Ms),
    percent(requests.errorRatio),
    percent(requests.shedRatio),
  ]
  /** @param {(value: number) => string} write @param {number} before @param {number} now */
  const arrow = (write, before, now) => `${write(before)} → ${write(now)}`
  return makeSection(
    'releases',
    'Releases',
    'The figures of each release count from its start, and not from the start of this run. They come from release.file.',
    makeTable({
      caption: 'This release and the one before',
      heads: [{ title: 'Release', isText: true }, 'since', 'requests', 'p50', 'p99', 'errors', 'shed'],
      rows: [rowOf(`this: ${nameOf(current)}`, current), rowOf(`before: ${nameOf(previous)}`, previous)],
    }),
    routes.length > 0 &&
      makeTable({
        caption: 'By route, before and now',
        heads: [{ title: 'Route', isText: true }, 'p50', 'p99', 'errors'],
        rows: routes
          .slice(0, MAX_ROUTES)
          .map((each) => [
            routeName(each),
            arrow(duration, each.previous.p50Ms, each.current.p50Ms),
            arrow(duration, each.previous.p99Ms, each.current.p99Ms),
            arrow(percent, each.previous.errorRatio, each.current.errorRatio),
          ]),
      })
  )
}

/** @param {unknown} value */
const isGroup = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
/** @param {unknown} value */
const written = (value) =>
  value === null ? 'not set' : typeof value === 'string' ? value : JSON.stringify(value)
/** @param {[name: string, value: unknown][]} entries @returns {[string, string][]} */
const rowsOf = (entries) => entries.map(([name, value]) => [name, written(value) ?? NONE])

/** @param {Run} run */
function makeOptions({ options }) {
  const entries = Object.entries(options)
  const groups = entries.filter(([, value]) => isGroup(value))
  const plain = entries.filter(([, value]) => !isGroup(value))
  return makeSection(
    'options',
    'Options in force',
    null,
    html`<div class="options">${groups.map(([name, group]) => makeFacts(name, rowsOf(Object.entries(/** @type {object} */ (group)))))}${makeFacts('others', rowsOf(plain))}</div>`
  )
}

module.exports = { makeOptions, makeReleases, makeSteps }

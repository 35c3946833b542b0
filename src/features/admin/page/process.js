'use strict'
// The state of the process in small tables: the gate, the memory, the workers and the releases.

const { make, setChildren } = require('./dom')
const { factTable, gridTable } = require('./facts')
const {
  NONE,
  bytes,
  count,
  dayAndTime,
  duration,
  number,
  percent,
  routeName,
  span,
  timeOfDay,
} = require('../../../core/readable')

/**
 * @import { LatencySummary, ReleaseSnapshot, ReleasesSnapshot, ShedCount, Snapshot } from '../../../../index.js'
 * @import { State } from './chart-list'
 * @import { Section } from './main'
 */

/**
 * A section whose content is replaced when its figures have changed.
 *
 * @param {Pick<Section, 'id' | 'title' | 'isWide' | 'isEmpty'>} about @param {(state: State) => Node[]}
 *   makeContent @returns {Section}
 */
function plainSection(about, makeContent) {
  const content = make('div', { class: 'details' })
  return {
    ...about,
    content: [content],
    update(state) {
      const made = makeContent(state)
      setChildren(content, made.map((node) => node.textContent).join('\n'), () => made)
    },
  }
}

/** @param {readonly ShedCount[]} list */
const rejectedRows = (list) =>
  list.map(({ reason, priority, count: times }) => [reason, priority, count(times)])

const admissionSection = () =>
  plainSection({ id: 'admission', title: 'Admission' }, ({ snapshot: { admission } }) => {
    const { shed, wouldShed, advice } = admission
    return [
      factTable('The gate', [
        ['mode', admission.mode],
        ['overloaded', admission.isOverloaded ? 'yes' : 'no'],
        ['limit', admission.limit === null ? 'none' : `${count(admission.limit)}, by ${admission.limitedBy}`],
        ['cost of a request', duration(admission.costMs)],
        ['admitted', count(admission.admitted)],
        ['left the queue', count(admission.abandoned)],
      ]),
      ...(shed.length > 0
        ? [gridTable('Rejected', ['Reason', 'class', 'requests'], rejectedRows(shed))]
        : []),
      ...(wouldShed.length > 0
        ? [gridTable('Would be rejected', ['Reason', 'class', 'requests'], rejectedRows(wouldShed))]
        : []),
      ...(shed.length + wouldShed.length === 0
        ? [make('p', { class: 'faint' }, 'No request was rejected.')]
        : []),
      ...(advice === null
        ? []
        : [
            factTable('Fixed limits that the traffic suggests', [
              ['shed.maxConcurrent', count(advice.maxConcurrent)],
              ['shed.maxEventLoopDelay', duration(advice.maxEventLoopDelay)],
            ]),
          ]),
    ]
  })

const VERDICTS = { none: 'does not grow', growing: 'grows', unknown: 'not known yet' }

const memorySection = () =>
  plainSection({ id: 'memory', title: 'Memory' }, ({ snapshot: { runtime } }) => {
    const { heap, memory, collections } = runtime
    const { trend } = heap
    return [
      factTable('Heap', [
        ['after the last major collection', bytes(heap.afterGcBytes)],
        ['limit', bytes(heap.limitBytes)],
        ['trend', VERDICTS[trend.verdict]],
        ['growth', trend.megabytesPerHour === null ? NONE : `${number(trend.megabytesPerHour)} MB/h`],
        ['full in', span(trend.secondsToLimit)],
        ['outside of the heap', bytes(memory.externalBytes)],
      ]),
      gridTable(
        'Collections since the start',
        ['Kind', 'collections', 'in sum'],
        Object.entries(collections)
          .filter(([, each]) => each.count > 0)
          .map(([kind, each]) => [kind, count(each.count), duration(each.totalMs)])
      ),
    ]
  })

/** @param {State} state */
const isAlone = ({ fleet }) => fleet === null || fleet.workers.length < 2

const workersSection = () =>
  plainSection({ id: 'workers', title: 'Workers', isEmpty: isAlone }, ({ fleet, snapshot }) => {
    if (fleet === null || fleet.workers.length < 2)
      return [
        make('p', { class: 'empty' }, 'This is the only process. In a cluster, all workers are listed here.'),
      ]
    return [
      gridTable(
        'This worker first',
        ['Worker', 'process', 'state', 'reported'],
        fleet.workers.map(({ worker, pid, state, reportedAt }) => [
          String(worker),
          String(pid),
          state,
          timeOfDay(reportedAt),
        ])
      ),
      gridTable(
        'All workers together, and this worker',
        ['', 'in flight', 'a second', 'p50', 'p99', 'errors'],
        [
          ['all workers', ...figuresOf(fleet.requests)],
          ['this worker', ...figuresOf(snapshot.requests)],
        ]
      ),
    ]
  })

/** @param {Snapshot['requests']} requests */
const figuresOf = ({ inFlight, lastMinute }) => [
  count(inFlight),
  number(lastMinute.ratePerSecond),
  ...figuresOrNothing(lastMinute),
]

/** @param {Pick<LatencySummary, 'count' | 'p50Ms' | 'p99Ms' | 'errorRatio'>} requests */
const figuresOrNothing = ({ count: requests, p50Ms, p99Ms, errorRatio }) =>
  requests === 0 ? [NONE, NONE, NONE] : [duration(p50Ms), duration(p99Ms), percent(errorRatio)]

/** @param {ReleaseSnapshot} release */
const nameOf = ({ version, revision }) =>
  [version, revision.slice(0, 10)].filter(Boolean).join(' ') || 'not named'

const releasesSection = () =>
  plainSection(
    {
      id: 'releases',
      title: 'Releases',
      isWide: true,
      isEmpty: ({ snapshot: { releases } }) => releases.previous === null,
    },
    ({ snapshot: { releases } }) => {
      const { previous, routes } = releases
      return [
        makeReleases(releases),
        ...(previous === null ? [makeNoRelease()] : []),
        ...(routes.length > 0 ? [makeReleaseRoutes(routes)] : []),
      ]
    }
  )

/** @param {ReleasesSnapshot} releases */
function makeReleases({ current, previous }) {
  const rows = [[`this: ${nameOf(current)}`, ...releaseFigures(current)]]
  if (previous !== null) rows.push([`before: ${nameOf(previous)}`, ...releaseFigures(previous)])
  const heads = ['Release', 'since', 'requests', 'p50', 'p99', 'errors', 'shed']
  return gridTable('This release and the one before', heads, rows)
}

/** @param {ReleaseSnapshot} release */
const releaseFigures = ({ requests, since }) => [
  dayAndTime(since),
  count(requests.count),
  ...figuresOrNothing(requests),
  percent(requests.shedRatio),
]

const makeNoRelease = () =>
  make(
    'p',
    { class: 'empty' },
    'Nothing to compare with yet. With the option release.file, the next release is compared with this release.'
  )

/** @param {ReleasesSnapshot['routes']} routes */
const makeReleaseRoutes = (routes) =>
  gridTable(
    'By route, before and now',
    ['Route', 'p50', 'p99', 'errors'],
    routes.map((each) => [
      routeName(each),
      `${duration(each.previous.p50Ms)} → ${duration(each.current.p50Ms)}`,
      `${duration(each.previous.p99Ms)} → ${duration(each.current.p99Ms)}`,
      `${percent(each.previous.errorRatio)} → ${percent(each.current.errorRatio)}`,
    ])
  )

module.exports = { admissionSection, memorySection, releasesSection, workersSection }

'use strict'
// The gate rejects requests, or would reject them in mode `observe`: the load is over the capacity, or a
// resource is short.
// - Found if at least one request in a hundred was rejected, and at least ten. A smaller share is a burst,
//   and nobody should be woken for a handful in a minute. Severity high from one in twenty.
// - The route is chosen by the loop time while requests were rejected. The whole minute would mislead,
//   because the rest of it may be idle.

const { LIMIT_REASON, POOL_REASON } = require('../../../core/gate/decision')
const { evidence, mostOfTime, percent } = require('../evidence')
const { adviceWithin } = require('../stall-places')
const { counted, routeName } = require('../../../core/readable')

const SOME = 0.01
const MANY = 0.05
const FEWEST = 10
/** Share of the busy time. A route with a smaller share is not where to begin. */
const MIN_OF_LOOP = 0.2

/** @type {Record<string, string>} */
const ADVICE = {
  loop: 'The event loop is full. Run more processes, or make the costliest route cheaper: a CPU profile (`npx spillway profile`) shows where the time goes.',
  concurrency:
    'The limit `shed.maxConcurrent` is reached. Raise it if the loop and the dependencies have room, or run more processes.',
  memory:
    'The heap is nearly full. Look for a leak, or raise --max-old-space-size if the container has room.',
  shortage: 'Your function `shed.shortage` reports a shortage. Look at the resource that it measures.',
  deadline: 'Requests would not be answered within their deadlines. Run more processes, or allow more time.',
  age: 'Requests wait in a proxy before they arrive. Run more processes, or let the proxy queue fewer. If the proxy queues none, clients may send deadlines that are too short, or its clock differs: see `deadlines.proxy.clockDifferenceMs` of the snapshot.',
}
/** The fixed limits of the user, by reason. @type {Record<string, string>} */
const FIXED = {
  concurrency: 'shed.maxConcurrent',
  event_loop_delay: 'shed.maxEventLoopDelay',
  event_loop_utilization: 'shed.maxEventLoopUtilization',
  heap_used_bytes: 'shed.maxHeapUsedBytes',
  rss_bytes: 'shed.maxRssBytes',
}
/** Causes other than the number of requests. @type {Record<string, string>} */
const CAUSES = {
  memory: 'the heap is nearly full',
  shortage: 'the application reports a shortage',
  age: 'on arrival, requests were older than their deadline or `shed.maxAge` allows',
  deadline: 'requests would have waited for longer than their deadline or `shed.maxAge` allows',
}
const OTHER_CAUSE = 'more requests come than the process can serve'

/** @param {string} reason */
function causeOf(reason) {
  if (reason.startsWith(LIMIT_REASON)) return `all slots of ${limitOf(reason)} were in use`
  if (Object.hasOwn(FIXED, reason)) return `the limit \`${FIXED[reason]}\` was reached`
  return CAUSES[reason] ?? OTHER_CAUSE
}

/** @param {string} reason */
function adviceFor(reason) {
  if (reason.startsWith(LIMIT_REASON))
    return `Raise \`maxConcurrent\` of ${limitOf(reason)} if what it protects has room, or make these requests take less time. \`maxWait\` and \`maxQueue\` say how long and how many may wait.`
  if (ADVICE[reason] !== undefined || !Object.hasOwn(FIXED, reason)) return ADVICE[reason] ?? ADVICE.loop
  return `The fixed limit \`${FIXED[reason]}\` is reached. Raise it if the process has room, or run more processes.`
}

/** @param {string} reason */
const limitOf = (reason) => `the limit '${reason.slice(LIMIT_REASON.length)}'`

/**
 * The reason of most rejections. Pools are left out, because a short pool is a separate finding:
 * pool-exhausted.
 *
 * @param {Record<string, number>} reasons
 */
const mainReason = (reasons) =>
  Object.entries(reasons)
    .filter(([name]) => !name.startsWith(POOL_REASON))
    .sort(([, a], [, b]) => b - a)
    .map(([name]) => name)[0] ?? 'loop'

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'overloaded',
  // A limit is reached whether the CPU is busy or not, so it explains nothing.
  explains: ({ admission }) =>
    mainReason(admission.reasons).startsWith(LIMIT_REASON) ? [] : ['cpu-saturated'],
  find(figures) {
    const { admission, overload, requests, routes, loop } = figures
    const isObserved = admission.mode === 'observe'
    const all = isObserved ? admission.wouldReject : admission.rejected
    const rejected = all - forPools(admission.reasons)
    // In mode `observe`, requests that the gate would reject are run. So `requests.count` includes them.
    const offered = requests.count + (isObserved ? 0 : rejected)
    const share = offered === 0 ? 0 : rejected / offered
    if (rejected < FEWEST || share < SOME) return []
    const reason = mainReason(admission.reasons)
    const utilization = overload?.utilization ?? loop.utilization
    const [first] = overload?.routes ?? []
    const isCostly = reason === 'loop' && first !== undefined && first.loopShare >= MIN_OF_LOOP * utilization
    const route = isCostly ? routeName(first) : null
    return [
      {
        severity: share >= MANY ? 'high' : 'medium',
        share,
        route,
        summary: `${percent(share)} of the requests ${isObserved ? 'would be' : 'were'} rejected (${counted(rejected, 'request')})${isObserved ? '' : `, mostly for the reason \`${reason}\``}: ${causeOf(reason)}.${isCostly ? ` Meanwhile ${route} took ${percent(first.loopShare)} of the loop's time.` : ''}`,
        evidence: [
          evidence(
            isObserved ? 'requests that would be rejected' : 'rejected requests',
            rejected,
            'requests'
          ),
          evidence('answered requests', requests.count, 'requests'),
          evidence('queued now', admission.queued, 'requests'),
          evidence('event loop busy while requests were rejected', utilization, 'share of the time'),
          ...(isCostly
            ? [evidence(`handlers of ${route} meanwhile`, first.loopShare, 'share of the time')]
            : []),
          ...mostOfTime(routes),
        ],
        advice: isCostly
          ? `Make ${route} cheaper: a CPU profile (\`npx spillway profile\`) shows where its time goes.${adviceWithin(figures, route)} Or run more processes.`
          : adviceFor(reason),
      },
    ]
  },
}

/** @param {Record<string, number>} reasons */
const forPools = (reasons) =>
  Object.entries(reasons).reduce(
    (sum, [name, count]) => (name.startsWith(POOL_REASON) ? sum + count : sum),
    0
  )

module.exports = rule

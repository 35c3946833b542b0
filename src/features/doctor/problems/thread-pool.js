'use strict'
// All threads of libuv's pool are in use, so files, DNS, asynchronous crypto and zlib wait for a thread. The
// wait is measured by thread-pool-wait.js. Waits of 50 ms or more count.
// - Found if jobs wait for a fifth of the time, so that one job in five waits. Ten seconds of samples are
//   needed, because a single sample proves nothing.
// - Requests must be slow because of the wait. Ten requests of a route must take at least half of the mean
//   wait, most of it waiting. Or a request must have been unanswered for five seconds. Half is enough: while
//   the queue grows, requests that have ended waited less than a job waits now.
// - Routes that spend most of their time on calls to another host are left out.
// - Waits for a CPU that other processes use are subtracted, because a job needs a CPU too.
// - Severity high from half of the time and 250 ms, because the wait is then most of the duration.
// - DNS look-ups use at most half of the threads. If only look-ups wait, nothing is found, because other jobs
//   do not wait.

const { costliestCall, evidence, mayWaitOutside, mostOfTime, onCpuShare } = require('../evidence')
const { counted, duration, routeName } = require('../../../core/readable')
const { FULL_MS } = require('../thread-pool-wait')

/** @import { Figures, RouteFigures } from '../figures' */

const MIN_SECONDS = 10
const SOME = 0.2
const MUCH = 0.5
const LONG_MS = 250
const FEWEST = 10
const OF_WAIT = 0.5
const MAX_NAMED = 3
/** Share of the CPUs in use above which more threads do not compute faster. */
const MAX_CPU = 0.8
/** The same if other processes use the CPUs: share of the time that the loop waits for a CPU. */
const MAX_STARVED = 0.2

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'thread-pool',
  explains: ['slow-dependency', 'pool-exhausted'],
  find(figures) {
    const { cpu, oldest, scheduler, threadPool } = figures
    const { fullShare, seconds, threads, waitMs } = threadPool
    if (seconds < MIN_SECONDS || fullShare < SOME) return []
    if (waitMs * onCpuShare(scheduler) < FULL_MS) return []
    const waiting = waitingRoutes(figures)
    const [first, ...others] = waiting
    const slowest = first ?? oldest
    if (slowest === undefined) return []
    const name = routeName(slowest)
    const rest = others.length === 0 ? '' : ` and ${counted(others.length, 'other route')}`
    return [
      {
        severity: fullShare >= MUCH && waitMs >= LONG_MS ? 'high' : 'medium',
        share: fullShare,
        route: name,
        summary: `Jobs of the thread pool (files, DNS, crypto, zlib) wait ${duration(waitMs)} for one of its ${counted(threads, 'thread')}: ${name}${rest} ${others.length === 0 ? 'waits' : 'wait'} for these jobs.`,
        evidence: [
          evidence('wait for a thread', waitMs, 'ms'),
          evidence('jobs wait', fullShare, 'share of the time'),
          evidence('UV_THREADPOOL_SIZE', threads, 'threads'),
          ...waiting
            .slice(0, MAX_NAMED)
            .map((route) => evidence(`mean duration of ${routeName(route)}`, route.meanMs, 'ms')),
          ...(first === undefined ? [evidence(`${name}, no answer yet`, Number(oldest?.ageMs), 'ms')] : []),
          ...mostOfTime(waiting),
          evidence('CPU used', cpu.used, 'CPUs'),
          evidence('CPU limit', cpu.limit, 'CPUs'),
        ],
        advice: `Find what fills the pool, in ${namesOf(waiting, name)} or in work between requests: bcrypt, crypto.pbkdf2, crypto.scrypt, zlib, dns.lookup or slow files. ${sizeAdvice(figures)} Move long computations to separate worker threads, which leaves the pool to files and DNS.`,
      },
    ]
  },
}

/**
 * Names the routes that wait, because they may also be the ones that fill the pool.
 *
 * @param {RouteFigures[]} waiting
 * @param {string} name
 */
const namesOf = (waiting, name) =>
  waiting.length < 2 ? name : waiting.slice(0, MAX_NAMED).map(routeName).join(', ')

/** Routes that wait for the pool, the one with the most request time first. @param {Figures} figures */
const waitingRoutes = ({ loop, outgoing, routes, threadPool: { fullShare, waitMs } }) =>
  routes.filter(
    (route) =>
      route.count >= FEWEST &&
      route.meanMs >= Math.max(FULL_MS, OF_WAIT * fullShare * waitMs) &&
      mayWaitOutside(route, loop) &&
      costliestCall(route, outgoing) === undefined
  )

/** @param {Figures} figures */
function sizeAdvice({ cpu, scheduler, threadPool: { threads } }) {
  if (cpu.used >= MAX_CPU * cpu.limit || (scheduler?.waitShare ?? 0) >= MAX_STARVED)
    return `A larger UV_THREADPOOL_SIZE (${threads} now) lets files and DNS pass. It does not speed up hashing and compression, because the CPUs are in use. Give the process more CPUs, or hash and compress less.`
  return `Start the process with UV_THREADPOOL_SIZE=${Math.max(2 * threads, Math.ceil(cpu.limit))} (${threads} now).`
}

module.exports = rule

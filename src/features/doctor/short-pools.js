'use strict'
// Finds pools that were given to `pool()` and are short of connections. The finding says for which share of
// the time callers wait, and which routes hold the connections. The number of connections needed follows from
// Little's law: uses per second x seconds of a use. This formula would count a slow scan as load. So if one
// query is far slower than the others, the advice is about this query, and the advised size is for the other
// queries.

const { counted, duration, routeName } = require('../../core/readable')
const { evidence, percent } = require('./evidence')
const { longestQuery, mayShowQueries } = require('./pool-queries')

/**
 * @import { Figures } from './figures'
 * @import { PoolFigures } from './feature-figures'
 * @import { LongestQuery } from './pool-queries'
 * @import { Claim } from './rules'
 * @typedef {Claim & { pool: string }} NamedClaim
 */

const FEWEST = 20
/** A pool is short if callers wait for a tenth of the time, and each waits 20 ms on average. */
const MIN_SHARE = 0.1
const MIN_MS = 20
const LONG_MS = 250
const FEWEST_REJECTED = 10
const MANY_REJECTED = 0.05
/**
 * If a connection is held this long while callers wait, it was probably never released, or its query runs for
 * minutes.
 */
const LEAKED_MS = 10_000
/** As in problems/pool-exhausted.js. From here on, the time of a use grows with the connections in use. */
const ELASTICITY = 0.4
const CORRELATION = 0.5
const MIN_USES = 50
/** Above this share of connections in use, callers wait because uses meet by chance. */
const BEST_USE = 0.7

/**
 * @param {Pick<Figures, 'pools'>} figures
 * @param {(pool: PoolFigures) => boolean} [isEffect] whether slow uses make the pool short
 * @returns {NamedClaim[]}
 */
const shortPools = ({ pools = [] }, isEffect = never) =>
  pools.filter(isShort).map((pool) => claimOf(pool, isEffect(pool)))

const never = () => false

/**
 * The pools for which requests were rejected. The gate measures pool waits without stalls, so a full loop is
 * not the cause.
 *
 * @param {Figures} figures @param {(pool: PoolFigures) => boolean} [isEffect] @returns {NamedClaim[]}
 */
const rejectingPools = ({ pools = [] }, isEffect = never) =>
  pools.filter(isRejecting).map((pool) => claimOf(pool, isEffect(pool)))

/** @param {PoolFigures} pool */
const isRejecting = ({ rejected }) => rejected >= FEWEST_REJECTED

/** @param {PoolFigures} pool */
function isShort(pool) {
  const { asks, meanWaitMs, timeouts, waitingShare } = pool
  if (timeouts > 0 || isRejecting(pool) || isLeaking(pool)) return true
  return asks >= FEWEST && meanWaitMs >= MIN_MS && waitingShare >= MIN_SHARE
}

/** @param {PoolFigures} pool */
const isLeaking = ({ held, max, waiting }) =>
  waiting > 0 && max > 0 && held.count >= max && held.longestMs >= LEAKED_MS

/** @param {PoolFigures} pool */
const isLimitedByServer = ({ load }) =>
  load.count >= MIN_USES && load.elasticity >= ELASTICITY && load.correlation >= CORRELATION

/** @param {PoolFigures} pool @param {boolean} isEffect @returns {NamedClaim} */
function claimOf(pool, isEffect) {
  const { asks, meanUseMs, meanWaitMs, rejected, timeouts, waitingShare } = pool
  const isMuch = rejected >= MANY_REJECTED * (asks + rejected)
  const isHigh = timeouts > 0 || isMuch || meanWaitMs >= LONG_MS || isLeaking(pool)
  // The durations are those of the fault, so a size for them is not the remedy.
  const needed = isLeaking(pool) || isEffect ? undefined : neededOf(pool)
  const query = needed === undefined ? undefined : longestQuery(pool)
  const slow = query?.isSlow ? query : undefined
  const [holder] = pool.holders
  return {
    pool: pool.name,
    severity: isHigh ? 'high' : 'medium',
    share: waitingShare,
    route: holder === undefined || holder.route === null ? null : routeName(holder),
    summary: `${isLeaking(pool) ? leakOf(pool) : shortageOf(pool)}${rejectedOf(pool)}`,
    evidence: [
      evidence('time while a caller waits', waitingShare, 'share of the time'),
      evidence('mean wait for a connection', meanWaitMs, 'ms'),
      evidence('mean time of a use', meanUseMs, 'ms'),
      evidence('connections at most', pool.max, 'connections'),
      ...(needed === undefined
        ? []
        : [evidence("needed by Little's law for the present durations", needed, 'connections')]),
      ...(slow?.othersMs === undefined
        ? []
        : [evidence(`needed without ${slow.name}`, neededWithout(pool, slow), 'connections')]),
      evidence('callers that waited until they timed out', timeouts, 'callers'),
      evidence('rejected requests', rejected, 'requests'),
      evidence('longest time that a connection in use is held', pool.held.longestMs, 'ms'),
    ],
    advice: adviceOf(pool, needed, isEffect),
  }
}

/** @param {PoolFigures} pool */
const timesOf = ({ meanWaitMs, waitingShare }) =>
  `for ${percent(waitingShare)} of the time, ${duration(meanWaitMs)} on average`

/** @param {PoolFigures} pool */
const shortageOf = (pool) =>
  `Requests wait for a connection of the pool '${pool.name}' ${timesOf(pool)}${sizeOf(pool)}.${holderOf(pool)}${queryOf(pool)}`

/** @param {PoolFigures} pool */
function leakOf(pool) {
  const { held, holders, max, name } = pool
  const [holder] = holders
  const whose = holder === undefined || holder.route === null ? 'One caller' : routeName(holder)
  return `${whose} holds connections of the pool '${name}' for up to ${duration(held.longestMs)}: all ${max} are in use, and requests wait for one ${timesOf(pool)}.`
}

/** @param {PoolFigures} pool */
const sizeOf = ({ max }) => (max > 0 ? `: it has ${counted(max, 'connection')}` : '')

/** @param {PoolFigures} pool */
function holderOf({ holders }) {
  const total = holders.reduce((sum, { heldMs }) => sum + heldMs, 0)
  const known = holders.filter(({ route }) => route !== null)
  if (total === 0 || known.length === 0) return ''
  return ` ${routeName(known[0])} holds them longest: ${percent(known[0].heldMs / total)} of the time in use.`
}

/** @param {PoolFigures} pool */
function queryOf(pool) {
  const query = longestQuery(pool)
  if (query === undefined) return ''
  return ` The query ${query.name} takes ${percent(query.share)} of the time of all queries, ${duration(query.meanMs)} on average.`
}

/**
 * Advice about the longest query. More connections would make a query that reads a whole table slower.
 *
 * @param {PoolFigures} pool
 */
function queryAdvice(pool) {
  const query = longestQuery(pool)
  return query === undefined ? '' : `First make the query ${query.name} cheaper, such as by an index. `
}

/** @param {PoolFigures} pool */
const rejectedOf = ({ rejected }) =>
  rejected > 0 ? ` ${counted(rejected, 'request')} would have waited too long, and were rejected.` : ''

/**
 * @param {PoolFigures} pool
 * @returns {number | undefined} number of connections that would serve all callers
 */
function neededOf(pool) {
  const busy = busyOf(pool)
  return busy > 0 ? Math.ceil(busy / BEST_USE) : undefined
}

/** Mean number of connections that would be in use without rejections. @param {PoolFigures} pool */
const busyOf = ({ asks, asksPerRequest, meanUseMs, rejected, seconds }) =>
  (((asks + rejected * asksPerRequest) / seconds) * meanUseMs) / 1000

/**
 * Number of connections that would serve all queries except the slow one.
 *
 * @param {PoolFigures} pool @param {LongestQuery} slow
 */
const neededWithout = (pool, { totalMs }) =>
  Math.max(1, Math.ceil((busyOf(pool) * Math.max(0, 1 - totalMs / pool.useMs)) / BEST_USE))

/**
 * Mean number of connections in use, plus waiting callers. Closed-loop clients may need this many connections
 * once they no longer wait.
 *
 * @param {PoolFigures} pool
 */
const wantedOf = ({ asks, meanUseMs, meanWaitMs, seconds }) =>
  Math.ceil(((asks / seconds) * (meanUseMs + meanWaitMs)) / 1000)

/** @param {PoolFigures} pool @param {number} needed */
function sizeAdvice(pool, needed) {
  const wanted = wantedOf(pool)
  const orMore =
    wanted > needed ? `. Quicker answers may bring clients back sooner: then up to ${wanted} are needed` : ''
  return `By Little's law ${counted(needed, 'connection')} would be enough for the present load${orMore}. ${durationsOf(pool)} Make the pool this large, if the server can take that many connections from each process at the same time.`
}

/** Says which time of a use the size is for. A slow query looks like load. @param {PoolFigures} pool */
function durationsOf(pool) {
  const { meanUseMs, queries } = pool
  const size = `This size is right as long as a use takes ${duration(meanUseMs)}.`
  if (queries !== undefined) return size
  const shown = mayShowQueries(pool) ? ', which `queries: true` shows' : ''
  return `${size} If most of that time is one slow query${shown}, make the query quick first. A larger pool is then not needed.`
}

/** @param {PoolFigures} pool @param {LongestQuery} slow @param {boolean} isEffect */
function adviceOfSlow(pool, slow, isEffect) {
  const { max } = pool
  const { meanMs, name, othersMs } = slow
  const first = `First make the query ${name} cheaper, such as by an index: it takes ${duration(meanMs)} on average`
  if (isEffect) {
    const others = othersMs === undefined ? '' : `, and the other queries ${duration(othersMs)}`
    return `${first}${others}. A larger pool is not the remedy.`
  }
  if (othersMs === undefined)
    return `${first}. The size of the pool follows from that time, so choose the size afterwards.`
  const needed = neededWithout(pool, slow)
  const rest = `${first}, and the other queries ${duration(othersMs)}. By Little's law these need ${counted(needed, 'connection')}`
  if (max > 0 && needed <= max) return `${rest} of the ${max}. A larger pool is not the remedy.`
  return `${rest}. Make the pool this large, if the server can take that many connections from each process at the same time.`
}

/**
 * Says that bursts make callers wait only if the connections are enough in every ten seconds of the minute.
 *
 * @param {PoolFigures} pool
 */
function meanAdvice({ busiest, max }) {
  const enough = `By Little's law ${counted(max, 'connection')} should be enough on average`
  if (busiest === undefined) return `${enough}.`
  return Math.ceil(busiest / BEST_USE) <= max
    ? `${enough}, so bursts make callers wait.`
    : `${enough}, but not in the busiest ten seconds. Look at what comes more often then, or takes longer.`
}

/** @param {PoolFigures} pool @param {number | undefined} needed @param {boolean} isEffect */
function adviceOf(pool, needed, isEffect) {
  const { held, holders, max, name } = pool
  const [holder] = holders
  const whose = holder === undefined || holder.route === null ? 'its requests' : routeName(holder)
  if (isLeaking(pool))
    return `All connections of '${name}' are held, one for ${duration(held.longestMs)}. Look whether ${whose} waits for a query that still runs. If not, some path does not give the connection back, such as an early return, or an error before \`release()\`.`
  const slow = longestQuery(pool)
  const briefly = `Hold a connection as briefly as possible: not while ${whose} awaits anything else.`
  if (isEffect) {
    if (slow?.isSlow) return adviceOfSlow(pool, slow, isEffect)
    return `${queryAdvice(pool)}The pool is short because its connections are held for long. A larger pool is not the remedy. ${briefly}`
  }
  if (isLimitedByServer(pool))
    return `${queryAdvice(pool)}A larger pool would not help: a use takes longer the more connections are in use, so the server behind '${name}' is the limit. Make what ${whose} asks of it cheaper, or hold connections for a shorter time.`
  if (slow?.isSlow) return adviceOfSlow(pool, slow, isEffect)
  const size = needed === undefined ? '' : `${needed <= max ? meanAdvice(pool) : sizeAdvice(pool, needed)} `
  return `${queryAdvice(pool)}${size}${briefly}`
}

module.exports = { isLeaking, isShort, rejectingPools, shortPools }

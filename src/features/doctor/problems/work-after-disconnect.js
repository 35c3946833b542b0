'use strict'
// Work goes on for requests that nobody waits for: their clients have disconnected, or `errors.timeout` has
// answered for the handler.
// - A route is found only with five such requests or more, because some clients always disconnect.
// - These requests must also have taken a hundredth of the loop, or a quarter of one connection. Less is not
//   worth a change of the code.
// - Severity high from a tenth of the loop, or one connection all the time.

const { counted, duration, routeName } = require('../../../core/readable')
const { evidence, percent } = require('../evidence')

/**
 * @import { WasteFigures } from '../figures'
 * @import { Claim } from '../rules'
 */

const FEWEST = 5
const SOME = { loop: 0.01, connections: 0.25 }
const MUCH = { loop: 0.1, connections: 1 }

/** @param {Pick<WasteFigures, 'loopShare' | 'connections'>} waste @param {typeof SOME} least */
const isAtLeast = ({ loopShare, connections }, least) =>
  loopShare >= least.loop || connections >= least.connections

/** The larger of two shares: of the loop, and of one connection. @param {WasteFigures} waste */
const sizeOf = ({ loopShare, connections }) => Math.max(loopShare, Math.min(1, connections))

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'work-after-disconnect',
  find({ wasted = [] }) {
    const found = wasted
      .filter((each) => each.requests >= FEWEST && isAtLeast(each, SOME))
      .sort((a, b) => sizeOf(b) - sizeOf(a))
    return found.length === 0 ? [] : [claimOf(found[0], found.length - 1)]
  },
}

/** @param {WasteFigures} waste @param {number} others @returns {Claim} */
function claimOf(waste, others) {
  const { requests, loopMs, poolMs, loopShare } = waste
  const name = routeName(waste)
  const spent = [
    ...(loopMs > 0 ? [`used the loop for ${duration(loopMs)} (${percent(loopShare)})`] : []),
    ...(poolMs > 0 ? [`held connections for ${duration(poolMs)}`] : []),
  ].join(' and ')
  return {
    severity: isAtLeast(waste, MUCH) ? 'high' : 'medium',
    share: sizeOf(waste),
    route: name,
    summary: `${name} keeps working for clients that have disconnected or timed out. After that, ${counted(requests, 'request')} ${spent}${others === 0 ? '' : `. ${counted(others, 'other route')} ${others === 1 ? 'does' : 'do'} the same`}.`,
    evidence: [
      evidence('requests whose work went on', requests, 'requests'),
      evidence('loop time for these requests', loopMs, 'ms'),
      evidence('time for which these requests held connections', poolMs, 'ms'),
    ],
    advice: `Pass \`spillway.signal(req)\` in ${name} to what it awaits: \`fetch(url, { signal })\`, \`pipeline(source, res, { signal })\`, or \`signal.throwIfAborted()\` between steps. docs/cancel-queries.md shows how to cancel queries of pg and mysql2.`,
  }
}

module.exports = rule

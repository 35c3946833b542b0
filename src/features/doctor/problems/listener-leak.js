'use strict'
// Listeners, or hooks, are registered on every request and never removed. So each request does more work than
// the one before.
// - Found if Node.js has warned. It warns once per emitter, at eleven listeners
//   (`MaxListenersExceededWarning`). One warning is enough, because emitters of a healthy process cause none.
// - A thousand listeners explain a heap that grows, because each keeps what it refers to.
// - The warning alone does not explain a full loop. The loop time per request explains it once it has
//   doubled. The growth of this time is the share of the finding. A full or blocked loop is an effect of the
//   leak if the leak takes half of the loop's time.

const { counted, duration } = require('../../../core/readable')
const { evidence } = require('../evidence')

const MAX_LETTERS = 120
/** Factor of growth. A change in the mix of requests seldom doubles their cost. */
const GROWN = 2
const WARNING = 'MaxListenersExceededWarning'
/** Node warns at eleven. An emitter that serves all open connections may have some hundreds. */
const MANY = 1000

/**
 * The warning whose emitter has the most listeners now.
 *
 * @param {import('../figures').Figures['warnings']} warnings
 */
function worstOf(warnings) {
  const [worst] = (warnings?.recent ?? [])
    .filter(({ name }) => name === WARNING)
    .toSorted((a, b) => (b.listeners ?? 0) - (a.listeners ?? 0))
  return worst
}

/** Whether leaked listeners make the heap grow. @param {import('../figures').Figures} figures */
const doListenersFillHeap = ({ warnings }) => Number(worstOf(warnings)?.listeners) >= MANY

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'listener-leak',
  explains: ['event-loop-blocked', 'cpu-saturated', 'overloaded'],
  find({ cost, loop, warnings }) {
    const count = warnings?.counts[WARNING] ?? 0
    if (count === 0) return []
    const { at = null, listeners, message } = worstOf(warnings) ?? {}
    const place = at === null ? '' : ` The listeners are added at ${at}.`
    const now = listeners === undefined ? '' : ` By now there are ${counted(listeners, 'listener')}.`
    const warning = message === undefined ? '' : ` The warning says "${message.slice(0, MAX_LETTERS)}".`
    const grown = cost !== undefined && cost.lastMs >= GROWN * cost.leastMs ? cost : undefined
    const effect =
      grown === undefined
        ? ''
        : ` A request now takes ${duration(grown.lastMs)} of the event loop, and took ${duration(grown.leastMs)} before.`
    return [
      {
        severity: 'medium',
        share: grown === undefined ? 0 : loop.utilization * (1 - grown.leastMs / grown.lastMs),
        route: null,
        summary: `Listeners are added and never removed: Node.js has warned of ${counted(count, 'emitter')} with more listeners than expected.${now}${effect}${place}${warning}`,
        evidence: [
          evidence(WARNING, count, 'warnings'),
          ...(listeners === undefined ? [] : [evidence('listeners now', listeners, '')]),
          ...(cost === undefined
            ? []
            : [
                evidence('event loop time per request', cost.lastMs, 'ms'),
                evidence('lowest event loop time per request, over any ten seconds', cost.leastMs, 'ms'),
              ]),
        ],
        advice: `${at === null ? 'Start the process with --trace-warnings to see where the listener is added.' : `Look at ${at}, where the listener is added.`} Register hooks once at the start and not in a handler, and remove the listeners of a request when it ends (\`once\`, \`AbortSignal\`).`,
      },
    ]
  },
}

module.exports = { ...rule, doListenersFillHeap }

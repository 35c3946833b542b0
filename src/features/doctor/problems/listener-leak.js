'use strict'
// Listeners, or hooks, are registered on every request and never removed: each request then does more than the one before. Node.js
// warns once an emitter, at eleven listeners (`MaxListenersExceededWarning`). One warning is enough: no emitter of a
// healthy process has them.

const { counted } = require('../../../core/readable')
const { evidence } = require('../evidence')

const MOST_LETTERS = 120
const WARNING = 'MaxListenersExceededWarning'

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'listener-leak',
  find({ warnings }) {
    const count = warnings?.counts[WARNING] ?? 0
    if (count === 0) return []
    const { at = null, message } = warnings?.recent.find(({ name }) => name === WARNING) ?? {}
    const place = at === null ? '' : `, added at ${at}`
    return [
      {
        severity: 'medium',
        share: 0,
        route: null,
        summary: `Listeners are added and never removed: Node.js has warned of ${counted(count, 'emitter')} with more listeners than expected${place}${message === undefined ? '' : ` ("${message.slice(0, MOST_LETTERS)}")`}.`,
        evidence: [evidence(WARNING, count, 'warnings')],
        advice: `${at === null ? 'Start the process with --trace-warnings to see where the listener is added.' : `Look at ${at}, where the listener is added.`} Register hooks once at the start and not in a handler, and remove the listeners of a request when it ends (\`once\`, \`AbortSignal\`).`,
      },
    ]
  },
}

module.exports = rule

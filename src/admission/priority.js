'use strict'
// The classes a request may be of, in the order in which they are served and, from the end, shed. `bypass` is neither
// queued nor shed: liveness and metrics must answer when nothing else does.

const PRIORITIES = Object.freeze(/** @type {const} */ (['critical', 'high', 'normal', 'low', 'bypass']))
const CRITICAL = 0
const NORMAL = 2
const BYPASS = 4
/** How many classes may wait: all before `bypass`. */
const QUEUED_CLASSES = BYPASS
/** How much of a shortage each of those feels: critical never, low more than its share. */
const SHORTAGE_WEIGHTS = Object.freeze([0, 0.5, 1, 1.5])

/** @type {Map<string, number>} */
const INDEX = new Map(PRIORITIES.map((name, index) => [name, index]))

/** @returns {number | undefined} an index into PRIORITIES */
const priorityIndex = (name) => INDEX.get(name)

module.exports = { BYPASS, CRITICAL, NORMAL, PRIORITIES, QUEUED_CLASSES, SHORTAGE_WEIGHTS, priorityIndex }

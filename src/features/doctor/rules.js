'use strict'
// All rules of the doctor, causes before their effects. Of two equally severe findings, the one whose rule
// comes first here is shown first. A rule is a pure function of the figures, which returns claims or nothing.

/**
 * @import { Finding } from '../../../index.js'
 * @typedef {Finding['problem']} Problem
 * @typedef {Omit<Finding, 'problem' | 'effectOf' | 'more'> & { causedBy?: Problem,
 *   adviceIfCausedBy?: (cause: Problem) => string }} Claim `causedBy`: the problem that causes this one,
 *   according to the figures. It is given for two problems that may each cause the other.
 *   `adviceIfCausedBy`: the advice if the claim becomes an effect. It must not contradict that of the cause
 * @typedef {object} Rule
 * @property {Problem} problem
 * @property {readonly Problem[] | ((figures: import('./figures').Figures) => readonly Problem[])} [explains]
 *   problems that this problem may cause
 * @property {(figures: import('./figures').Figures) => boolean} [makesOthersWait] whether requests of other
 *   routes than the finding's route wait for it too
 * @property {true} [isOutside] set if other processes, or a limit of the container, cause it
 * @property {(figures: import('./figures').Figures) => Claim[]} find
 */

/** @type {readonly Rule[]} */
const RULES = Object.freeze([
  require('./problems/cpu-throttled'),
  require('./problems/thread-pool'),
  require('./problems/host-starved'),
  require('./problems/heap-growing'),
  require('./problems/garbage-collection'),
  require('./problems/listener-leak'),
  require('./problems/event-loop-blocked'),
  require('./problems/orphaned-requests'),
  require('./problems/aborted-requests'),
  require('./problems/work-after-disconnect'),
  require('./problems/pool-exhausted'),
  require('./problems/many-calls'),
  require('./problems/slow-dependency'),
  require('./problems/errors'),
  require('./problems/overloaded'),
  require('./problems/cpu-saturated'),
  require('./problems/keep-alive'),
  require('./problems/slow-clients'),
])

const PROBLEMS = Object.freeze(RULES.map(({ problem }) => problem))

module.exports = { PROBLEMS, RULES }

'use strict'
// All rules of the doctor, causes before their effects: of two findings that are equally severe, the one that
// comes first here is shown first. A rule is a pure function of the figures. It makes a claim with its
// figures, or none.

/**
 * @import { Finding } from '../../../index.js'
 * @typedef {Finding['problem']} Problem
 * @typedef {Omit<Finding, 'problem' | 'effectOf' | 'more'> & { causedBy?: Problem }} Claim `causedBy`: the
 *   figures say that this problem is an effect of that one. In general either may cause the other
 * @typedef {object} Rule
 * @property {Problem} problem
 * @property {readonly Problem[] | ((figures: import('./figures').Figures) => readonly Problem[])} [explains]
 *   what this problem causes
 * @property {(figures: import('./figures').Figures) => boolean} [makesOthersWait] whether requests of other
 *   routes than its own wait for it
 * @property {true} [isOutside] whether other processes, or a limit of the container, cause it
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

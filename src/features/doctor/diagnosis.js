'use strict'
// The diagnosis of one record of figures: the claims of all rules, sorted by severity. What another finding explains is an effect: it
// stays in the list, as low, because the cause is what somebody has to mend.

const { counted, duration } = require('../../core/readable')
const { RULES } = require('./rules')

/**
 * @import { Diagnosis, Finding } from '../../../index.js'
 * @import { Figures } from './figures'
 * @import { Claim, Rule } from './rules'
 */

const SEVERITIES = Object.freeze(/** @type {const} */ (['high', 'medium', 'low']))
/** One slow request among five is chance: a process with fewer requests is not called healthy. */
const FEWEST_REQUESTS = 20
/** Of a shorter time nothing is claimed: a process that starts compiles its code, and shares the CPU with what starts it. */
const FEWEST_SECONDS = 5
/**
 * A cause that takes less than half of what its effect takes leaves most of the effect unexplained. That holds for rejections too: a
 * process that gets a tenth of its time back can serve a tenth more, while it rejects a half.
 */
const EXPLAINED = 0.5
/** Requests of a route that wait for something: whatever share of the requests they are, each waits for its cause. */
const OF_WAITING = new Set(['slow-dependency', 'pool-exhausted'])
const PAGE = 'docs/insight.md'

/**
 * @param {Figures} figures
 * @param {string} at when the figures were taken, in ISO 8601
 * @param {readonly Rule[]} [rules] for tests
 * @returns {Diagnosis}
 */
function diagnose(figures, at, rules = RULES) {
  const isLong = figures.seconds >= FEWEST_SECONDS
  const found = (isLong ? rules : []).flatMap((rule) =>
    rule.find(figures).map((claim) => ({ rule, finding: findingOf(rule, claim) }))
  )
  const findings = found
    .map(({ finding }) => {
      const cause = found.find((other) => explains(other, finding))
      return cause === undefined
        ? finding
        : { ...finding, severity: /** @type {const} */ ('low'), effectOf: cause.rule.problem }
    })
    .sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
  const messages = figures.events.reduce((sum, { count }) => sum + count, 0)
  const isKnown = isLong && figures.requests.count + messages >= FEWEST_REQUESTS
  const healthy = findings.length > 0 ? false : isKnown ? true : null
  return {
    at,
    seconds: Math.round(figures.seconds * 10) / 10,
    requests: figures.requests.count,
    healthy,
    summary: sentenceOf(healthy, findings, figures),
    findings,
  }
}

/** @param {Rule} rule @param {Claim} claim @returns {Finding} */
const findingOf = ({ problem }, claim) => ({
  problem,
  ...claim,
  effectOf: null,
  more: `${PAGE}#${problem}`,
})

/** @param {{ rule: Rule, finding: Finding }} found @param {Finding} effect */
function explains({ rule, finding: cause }, effect) {
  if (cause.problem === effect.problem || !rule.explains?.includes(effect.problem)) return false
  if (OF_WAITING.has(effect.problem)) return cause.route === effect.route
  return cause.problem === 'overloaded' || cause.share >= EXPLAINED * effect.share
}

/** @param {boolean | null} healthy @param {readonly Finding[]} findings @param {Figures} figures */
function sentenceOf(healthy, findings, { requests, seconds, events }) {
  if (healthy === false) return findings[0].summary
  const messages = events.reduce((sum, { count }) => sum + count, 0)
  const what = messages === 0 ? '' : ` and ${counted(messages, 'message')}`
  const traffic = `${counted(requests.count, 'request')}${what} in the last ${duration(seconds * 1000)}`
  return healthy ? `Healthy: no problem found in ${traffic}.` : `Not enough traffic to tell: ${traffic}.`
}

/** What a diagnosis is before any request came, or where `insight` is off. @param {string} at @param {string} summary @returns {Diagnosis} */
const unknownDiagnosis = (at, summary) => ({
  at,
  seconds: 0,
  requests: 0,
  healthy: null,
  summary,
  findings: [],
})

module.exports = { diagnose, unknownDiagnosis }

'use strict'
// Makes a diagnosis of one record of figures. Each rule reads the figures and returns claims. This file
// orders the claims as findings, by cause and severity. A finding that another finding explains is an effect.
// An effect keeps its own severity and follows its cause. The cause is what somebody must fix, so it is as
// severe as the worst of its effects. An effect of a cause outside of the process names no code, and its
// advice is that of this cause.

const { counted, duration, routeName } = require('../../core/readable')
const { MUCH } = require('./reading')
const { RULES } = require('./rules')

/**
 * @import { Diagnosis, Finding } from '../../../index.js'
 * @import { Figures } from './figures'
 * @import { Claim, Rule } from './rules'
 * @typedef {{ rule: Rule, finding: Finding, causedBy: Claim['causedBy'] | undefined,
 *   adviceIfCausedBy: Claim['adviceIfCausedBy'] | undefined }} Found
 * @typedef {Found & { cause: Found | undefined }} Effect of `cause`, if there is one
 */

const SEVERITIES = Object.freeze(/** @type {const} */ (['high', 'medium', 'low']))
/** With fewer requests a process is not called healthy, because one slow request among five may be chance. */
const FEWEST_REQUESTS = 20
/**
 * A shorter time is not judged. A process that starts compiles its code, and shares the CPU with the tools
 * that start it.
 */
const FEWEST_SECONDS = 5
/**
 * A finding explains another finding only if its share is at least this fraction of the other's share. A
 * smaller cause leaves most of the effect unexplained. This applies to rejections too. Without a cause that
 * takes a tenth of its time, a process serves a tenth more. That cannot explain why half is rejected.
 */
const EXPLAINED = 0.5
/**
 * Problems of a route whose requests wait for something. Their share does not matter, because each of these
 * requests waits for the cause.
 */
const OF_WAITING = new Set(['slow-dependency', 'pool-exhausted', 'orphaned-requests', 'aborted-requests'])
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
    rule.find(figures).map(({ causedBy, adviceIfCausedBy, ...claim }) => ({
      rule,
      causedBy,
      adviceIfCausedBy,
      finding: findingOf(rule, claim),
    }))
  )
  const findings = inOrder(
    withoutCircles(found.map((each) => ({ ...each, cause: causeOf(each, found, figures) }))),
    figures
  )
  const messages = figures.events.reduce((sum, { count }) => sum + count, 0)
  const isKnown = isLong && figures.requests.count + messages >= FEWEST_REQUESTS
  const held = heldUpIn(figures)
  const healthy = findings.length > 0 ? false : isKnown && held === undefined ? true : null
  return {
    at,
    seconds: Math.round(figures.seconds * 10) / 10,
    requests: figures.requests.count,
    healthy,
    summary: sentenceOf(healthy, findings, figures, isKnown ? held : undefined),
    findings,
  }
}

/** @param {Rule} rule @param {Omit<Claim, 'causedBy' | 'adviceIfCausedBy'>} claim @returns {Finding} */
const findingOf = ({ problem }, claim) => ({
  problem,
  ...claim,
  effectOf: null,
  more: `${PAGE}#${problem}`,
})

/**
 * Returns the cause that the claim names. Otherwise it is the first finding that explains this one. If that
 * cause is outside of the process, a larger cause inside takes its place.
 *
 * @param {Found} effect @param {readonly Found[]} found @param {Figures} figures
 * @returns {Found | undefined}
 */
function causeOf({ causedBy, finding }, found, figures) {
  const named = causedBy && found.find((other) => other.rule.problem === causedBy)
  if (named !== undefined) return named
  const causes = found.filter((other) => explains(other, finding, figures))
  const [first] = causes
  /** @param {Found} other */
  const isLarger = (other) => !other.rule.isOutside && other.finding.share > first.finding.share
  return first?.rule.isOutside ? (causes.find(isLarger) ?? first) : first
}

/** @param {Found} found @param {Finding} effect @param {Figures} figures */
function explains({ rule, causedBy, finding: cause }, effect, figures) {
  if (causedBy === effect.problem) return false
  const explained = typeof rule.explains === 'function' ? rule.explains(figures) : rule.explains
  if (cause.problem === effect.problem || !explained?.includes(effect.problem)) return false
  if (!OF_WAITING.has(effect.problem))
    return cause.problem === 'overloaded' || cause.share >= EXPLAINED * effect.share
  // A route that never answers holds its connections itself.
  if (cause.route === effect.route) return effect.problem !== 'orphaned-requests'
  return rule.makesOthersWait?.(figures) === true
}

/**
 * Three findings may explain each other in a circle. Then the first finding of the circle becomes the cause.
 *
 * @param {readonly Effect[]} found
 */
function withoutCircles(found) {
  /** @param {Effect} each */
  const causeIn = ({ cause }) => found.find(({ finding }) => finding === cause?.finding)
  for (const each of found) {
    let at = causeIn(each)
    for (let steps = 0; at !== undefined && at !== each && steps < found.length; steps++) at = causeIn(at)
    if (at === each) each.cause = undefined
  }
  return found
}

/**
 * Each cause is followed by the findings that it explains, directly or through another effect. The groups are
 * sorted by severity.
 *
 * @param {readonly Effect[]} found
 * @param {Figures} figures
 * @returns {Finding[]}
 */
function inOrder(found, figures) {
  /** @param {Found} each @returns {Finding} */
  const rootOf = ({ finding }) => {
    const cause = found.find((other) => other.finding === finding)?.cause
    return cause === undefined ? finding : rootOf(cause)
  }
  const groups = found
    .filter(({ cause }) => cause === undefined)
    .map(({ rule, finding }) => {
      const effects = found
        .filter((each) => each.cause !== undefined && rootOf(each) === finding)
        .map((each) => ({
          ...(rule.isOutside ? ofOutside(each, finding, figures) : withAdvice(each)),
          effectOf: each.cause?.rule.problem ?? null,
        }))
        .sort(bySeverity)
      const [{ severity }] = [finding, ...effects].sort(bySeverity)
      return { rule, severity, share: finding.share, findings: [{ ...finding, severity }, ...effects] }
    })
    .sort(bySeverity)
  // The sort is stable, so equal groups keep the order of the rules.
  return groups
    .sort((a, b) => bySeverity(a, b) || Number(isBehind(a, groups)) - Number(isBehind(b, groups)))
    .flatMap(({ findings }) => findings)
}

/**
 * Returns an effect of a cause outside of the process. Handlers take long there because the process waits for
 * a CPU. So the rule judges figures that name no code. The advice is that of the cause.
 *
 * @param {Found} effect @param {Finding} cause @param {Figures} figures
 * @returns {Finding}
 */
function ofOutside({ rule, finding }, { advice }, figures) {
  const claims = rule.find(withoutCode(figures))
  // A claim about nothing but one place is not made without code.
  if (claims.length !== 1) return { ...finding, advice }
  const { causedBy: _, adviceIfCausedBy: __, ...claim } = claims[0]
  return { ...finding, ...claim, advice }
}

/** @param {Figures} figures @returns {Figures} */
const withoutCode = (figures) => ({
  ...figures,
  stalls: undefined,
  routes: figures.routes.map((route) => ({ ...route, loopShare: undefined })),
  overload: figures.overload && { ...figures.overload, routes: [] },
})

/**
 * Returns an effect, with the advice that fits its cause.
 *
 * @param {Effect} effect
 * @returns {Finding}
 */
function withAdvice({ adviceIfCausedBy, cause, finding }) {
  const problem = /** @type {Found} */ (cause).rule.problem
  return { ...finding, advice: adviceIfCausedBy?.(problem) ?? finding.advice }
}

/** @param {Pick<Finding, 'severity'>} a @param {Pick<Finding, 'severity'>} b */
const bySeverity = (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity)

/**
 * A cause outside of the process is listed after the causes inside, if one of those is equally severe and
 * larger.
 *
 * @typedef {{ rule: Rule, severity: Finding['severity'], share: number }} Group
 * @param {Group} group @param {readonly Group[]} groups
 */
const isBehind = ({ rule, severity, share }, groups) =>
  rule.isOutside === true &&
  groups.some((other) => !other.rule.isOutside && other.severity === severity && other.share > share)

/**
 * Returns the oldest request without an answer, if it is unusually old for its route. Nobody knows yet
 * whether it will be answered. No rule finds it before half a minute.
 *
 * @param {Figures} figures
 */
function heldUpIn({ oldest, routes }) {
  const known = routes.find(({ method, route }) => method === oldest?.method && route === oldest?.route)
  if (oldest === undefined || known === undefined || known.count < FEWEST_REQUESTS) return oldest
  const { quantiles } = known
  return quantiles !== undefined && oldest.ageMs >= MUCH * quantiles.p99Ms ? oldest : undefined
}

/**
 * @param {boolean | null} healthy
 * @param {readonly Finding[]} findings
 * @param {Figures} figures
 * @param {Figures['oldest']} held
 */
function sentenceOf(healthy, findings, { requests, seconds, events }, held) {
  if (healthy === false) return findings[0].summary
  const messages = events.reduce((sum, { count }) => sum + count, 0)
  const what = messages === 0 ? '' : ` and ${counted(messages, 'message')}`
  const traffic = `${counted(requests.count, 'request')}${what} in the last ${duration(seconds * 1000)}`
  if (healthy) return `Healthy: no problem found in ${traffic}.`
  if (seconds < FEWEST_SECONDS && requests.count + messages >= FEWEST_REQUESTS)
    return `Too early to tell: ${traffic}.`
  return held === undefined
    ? `Not enough traffic to tell: ${traffic}.`
    : `Too early to tell: ${traffic}, but a request of ${routeName(held)} has waited ${duration(held.ageMs)} for its answer.`
}

/**
 * The diagnosis before the first request, or while the doctor is off.
 *
 * @param {string} at
 * @param {string} summary
 * @returns {Diagnosis}
 */
const unknownDiagnosis = (at, summary) => ({
  at,
  seconds: 0,
  requests: 0,
  healthy: null,
  summary,
  findings: [],
})

module.exports = { diagnose, unknownDiagnosis }

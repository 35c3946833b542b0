'use strict'
// Other events of a run: findings, slow requests, stalls, errors, outgoing calls, rejections and collections.
// Counts are those of the run if the counters at its start are known, or else those since the start of the
// process.

const MOST = Object.freeze({ findings: 20, slowest: 15, stalls: 12, frames: 8, errors: 25, outgoing: 15 })

/**
 * @import { CollectionKind, OutgoingHostSums, Snapshot, StallSite } from '../../../../index.js'
 * @import { Covers, Recorded } from './run'
 * @import { Totals } from './run-requests'
 *
 * @typedef {'processErrors' | 'clientErrors' | 'internalErrors'} ErrorGroup
 * @typedef {Record<ErrorGroup, Record<string, number>> & Pick<Snapshot, 'warnings'>} OtherErrors
 */

/**
 * @param {Pick<Recorded, 'findings' | 'hasVerdict' | 'slowest'> & { from: number, to: number }} run
 * @param {Totals} totals
 */
function describeEvents({ findings, hasVerdict, slowest, from, to }, { start, end, isNow }) {
  const { snapshot } = end
  const before = start === 'process' || start === undefined ? undefined : start.snapshot
  const isKnown = start !== undefined
  /** @param {string} at */
  const isInRun = (at) => Date.parse(at) >= from && Date.parse(at) <= to
  return {
    eventsCover: /** @type {Covers} */ (isKnown ? 'run' : 'process'),
    // The doctor only judges the last minute, so it says nothing about a run that ended before.
    isJudged: isKnown || isNow,
    hasVerdict,
    findings: isKnown || isNow ? findings.slice(0, MOST.findings) : [],
    slowest: slowest.filter(({ at }) => isInRun(at)).slice(0, MOST.slowest),
    stalls: stallsOf(snapshot, before, isInRun),
    errors: since(snapshot.errors, before?.errors, ({ route, status, type }) => `${route} ${status} ${type}`)
      .sort((a, b) => b.count - a.count)
      .slice(0, MOST.errors),
    otherErrors: otherErrorsOf(snapshot, before),
    outgoing: outgoingOf(snapshot, before),
    rejected: rejectedOf(snapshot, before, 'shed'),
    wouldReject: rejectedOf(snapshot, before, 'wouldShed'),
    mode: snapshot.admission.mode,
    collections: Object.entries(snapshot.runtime.collections)
      .map(([kind, { count, totalMs }]) => {
        const earlier = before?.runtime.collections[/** @type {CollectionKind} */ (kind)]
        return { kind, count: count - (earlier?.count ?? 0), totalMs: totalMs - (earlier?.totalMs ?? 0) }
      })
      .filter(({ count }) => count > 0),
    heap: {
      limitBytes: snapshot.runtime.heap.limitBytes,
      memoryLimitBytes: snapshot.runtime.memory.limitBytes,
      before: before?.runtime.heap.afterGcBytes ?? null,
      after: snapshot.runtime.heap.afterGcBytes,
      trend: snapshot.runtime.heap.trend,
    },
  }
}

/**
 * Subtracts the counts at the start of the run from those at its end.
 *
 * @template {{ count: number }} Row
 * @param {readonly Row[]} rows @param {readonly Row[] | undefined} before @param {(row: Row) => string} keyOf
 */
function since(rows, before, keyOf) {
  const counts = new Map((before ?? []).map((row) => [keyOf(row), row.count]))
  return rows
    .map((row) => ({ ...row, count: row.count - (counts.get(keyOf(row)) ?? 0) }))
    .filter(({ count }) => count > 0)
}

/** @param {StallSite} site */
const siteKey = ({ cause, function: name, file, line, route, method, origin, package: from }) =>
  [cause, name, file, line, route, method, origin, from].join('\n')

/**
 * @param {Snapshot} snapshot
 * @param {Snapshot | undefined} before
 * @param {(at: string) => boolean} isInRun
 */
function stallsOf({ stalls }, before, isInRun) {
  const earlier = new Map((before?.stalls.sites ?? []).map((site) => [siteKey(site), site]))
  return stalls.sites
    .filter(({ lastAt }) => isInRun(lastAt))
    .map((site) => {
      const { count = 0, totalMs = 0, maxMs = 0 } = earlier.get(siteKey(site)) ?? {}
      return {
        ...site,
        frames: site.frames.slice(0, MOST.frames),
        count: site.count - count,
        totalMs: site.totalMs - totalMs,
        // The maximum is of the whole process. A longer stall before the run hides the longest stall of the
        // run.
        isMostAtMost: count > 0 && site.maxMs <= maxMs,
      }
    })
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.totalMs - a.totalMs)
    .slice(0, MOST.stalls)
}

/** @param {OtherErrors} snapshot @param {OtherErrors | undefined} before */
function otherErrorsOf(snapshot, before) {
  const groups = {
    processErrors: '',
    clientErrors: 'not an HTTP request: ',
    internalErrors: 'inside spillway: ',
  }
  const counts = /** @type {[ErrorGroup, string][]} */ (Object.entries(groups)).flatMap(([group, prefix]) =>
    Object.entries(snapshot[group]).map(([name, count]) => ({
      name: prefix + name,
      count: count - (before?.[group][name] ?? 0),
    }))
  )
  const warnings = Object.entries(snapshot.warnings.counts).map(([name, count]) => ({
    name: `warning: ${name}`,
    count: count - (before?.warnings.counts[name] ?? 0),
  }))
  return [...counts, ...warnings].filter(({ count }) => count > 0).slice(0, MOST.errors)
}

/** @param {Snapshot} snapshot @param {Snapshot | undefined} before */
function outgoingOf({ outgoing }, before) {
  const earlier = new Map((before?.outgoing.hosts ?? []).map(({ host, sinceStart }) => [host, sinceStart]))
  return outgoing.hosts
    .map(({ host, sinceStart }) => {
      const start = earlier.get(host)
      /** @param {Exclude<keyof OutgoingHostSums, 'maxMs'>} key */
      const since = (key) => sinceStart[key] - (start?.[key] ?? 0)
      return {
        host,
        count: since('count'),
        errors: since('errors'),
        totalMs: since('totalMs'),
        lookupMs: since('lookupMs'),
        connectMs: since('connectMs'),
        firstByteMs: since('firstByteMs'),
        maxMs: sinceStart.maxMs,
        isMostAtMost: start !== undefined && start.count > 0 && sinceStart.maxMs <= start.maxMs,
      }
    })
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.totalMs - a.totalMs)
    .slice(0, MOST.outgoing)
}

/** @param {Snapshot} snapshot @param {Snapshot | undefined} before @param {'shed' | 'wouldShed'} kind */
const rejectedOf = ({ admission }, before, kind) =>
  since(admission[kind], before?.admission[kind], ({ reason, priority }) => `${reason} ${priority}`)

module.exports = { describeEvents }

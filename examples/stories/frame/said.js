'use strict'
// What Spillway said by itself in a run: what it logged, what the doctor found, where the loop stalled. And
// how the process ended, if it did.

const path = require('node:path')

const WARN = 40
const SEVERITIES = ['high', 'medium', 'low']
/** Lines that differ in their figures alone are one. */
const FIGURE = /\d+(\.\d+)?/g
/** Places are shown from here, on whatever machine. */
const ROOT = path.join(__dirname, '..', '..', '..') + path.sep
const MAX_STALLS = 3
const MAX_OUTPUT = 12

/**
 * @param {{ application: import('./application').Application, watch: import('./watch').Watch, story: any }}
 *   of
 */
function whatWasSaid({ application, watch, story }) {
  const { ended, hasCrashed, lines, logged } = application
  const { findings, found, memory, snapshot } = watch
  const { sites = [], count = 0, totalMs = 0 } = snapshot?.stalls ?? {}
  return {
    log: groupsOf(
      logged.filter(({ event, level }) => level >= WARN || story.says?.includes(event)),
      story.folder
    ),
    events: [...new Set(logged.flatMap(({ event }) => event ?? []))],
    findings,
    found: [...found.values()].sort(
      (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity)
    ),
    stalls: {
      count,
      totalMs,
      sites: sites.slice(0, MAX_STALLS).map((site) => shortSite(site, story.folder)),
    },
    warnings: snapshot?.warnings ?? { counts: {}, recent: [] },
    slowestParts: snapshot?.slowest?.[0],
    memory: {
      samples: memory,
      peakRssBytes: Math.max(0, ...memory.map(({ rssBytes }) => rssBytes)),
      peakHeapBytes: Math.max(0, ...memory.map(({ heapBytes }) => heapBytes)),
    },
    workerCrash: workerCrashOf(logged),
    crash: hasCrashed ? { ...ended, output: lines.slice(0, MAX_OUTPUT) } : null,
  }
}

/** The first worker of a cluster that ended by itself: its primary goes on. */
function workerCrashOf(logged) {
  const { uptimeMs } = logged.find(({ event, pid }) => event === 'crashed' && pid !== undefined) ?? {}
  return uptimeMs === undefined ? null : { afterMs: uptimeMs }
}

/** In the order in which each was logged first. */
function groupsOf(logged, folder) {
  const groups = new Map()
  for (const line of logged) {
    const { err, msg, event, level, unlogged = 0 } = line
    const key = `${event} ${String(msg).replace(FIGURE, '')}`
    const group = groups.get(key)
    if (group === undefined)
      groups.set(key, {
        event,
        level,
        message: String(msg).replaceAll(ROOT, ''),
        error: errorOf(err, folder),
        count: 1 + unlogged,
      })
    else group.count += 1 + unlogged
  }
  return [...groups.values()]
}

/** What was thrown, and where in the application. */
function errorOf(err, folder) {
  if (err === undefined) return undefined
  const at = String(err.stack ?? '')
    .split('\n')
    .find((line) => line.includes(folder))
  const place = at?.match(/at (?:async )?(?:(\S+) \()?(?:file:\/\/)?(\/.*):\d+\)?$/)
  const where = place ? ` at ${place[1] ?? '(anonymous)'} (${path.relative(folder, place[2])})` : ''
  return `${err.type ?? err.name ?? 'Error'}: ${err.message}${where}`
}

const shortSite = (site, folder) => {
  const file = site.file === null ? null : path.relative(folder, String(site.file).replace(/^file:\/\//, ''))
  return { ...site, file, frames: site.frames?.slice(0, 5) ?? [] }
}

module.exports = { whatWasSaid }

'use strict'
// All numbers of one moment. A scrape is written over many loop turns, and shows this moment in every line: the
// tables are copied (a memcpy each), the list of series too. Nothing is done per series: of 10 000 it takes 1 ms.

/**
 * @param {any} parts
 * @param {any} [spare] an instant that is no longer shown: its tables are used again
 */
function takeInstant(parts, spare) {
  const { processErrors, admission, clock, failures, recorder, faults, releases, signals } = parts
  const nowMs = clock.now()
  recorder.noteTracing()
  const { bounds, folded, tables } = recorder.routes
  const series = recorder.routes.series.slice()
  const collections = signals.collections.sample()
  const memory = signals.memory.sample()
  return {
    counters: tables.counters.copy(spare?.counters),
    durations: tables.durations.copy(spare?.durations),
    exemplars: tables.exemplars.copy(),
    natives: tables.natives?.copy(spare?.natives),
    streams: tables.streams.copy(spare?.streams),
    bounds,
    series,
    // What stands for them in the metrics.
    shown: recorder.labelled?.series.slice() ?? series,
    inFlight: recorder.active.counts.slice(),
    folded,
    labelsFolded: recorder.labelled?.folded ?? [],
    admission: admission.sample(),
    errors: failures.table.sample(),
    processErrors: Object.entries(processErrors.counts),
    clientErrors: recorder.clientErrors.list(),
    faults: faults.list(),
    release: releases.current,
    startedAtSeconds: parts.startedAtWallMs / 1000,
    processStartedAtSeconds: parts.processStartedAtSeconds,
    loopDelay: signals.loopDelay.sample(nowMs),
    utilization: signals.utilization.sample(),
    collections,
    memory,
    heapTrend: signals.heapTrend.sample(nowMs, memory.afterGcLimitBytes),
  }
}

module.exports = { takeInstant }

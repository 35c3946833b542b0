'use strict'
// All numbers of one moment. A scrape is written over many loop turns, and shows this moment in every line: the
// tables are copied (a memcpy each), the lists of series cut off where they end now.

function takeInstant({ clock, recorder, faults, signals }) {
  const nowMs = clock.now()
  const { tables, series, folded } = recorder.routes
  return {
    counters: tables.counters.copy(),
    durations: tables.durations.copy(),
    streams: tables.streams.copy(),
    series: series.map((one) => ({
      of: one,
      row: one.row,
      streamRow: one.streamRow,
      statuses: one.statuses.length,
    })),
    inFlight: recorder.inFlight.slice(),
    folded,
    faults: faults.list(),
    loopDelay: signals.loopDelay.sample(nowMs),
    utilization: signals.utilization.sample(),
    collections: signals.collections.sample(),
    memory: signals.memory.sample(),
  }
}

module.exports = { takeInstant }

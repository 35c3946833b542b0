'use strict'
// How a release did, in the few numbers that are worth comparing with the next: since the start of this process, in all
// and for the routes with the most requests.

const { quantilesOf } = require('../histograms/quantiles')
const { OUTCOMES } = require('../requests/outcome')
const { COUNTERS, SHED } = require('../requests/route-series')

const RATIOS = [0.5, 0.95, 0.99]

function figuresOf({ count, errors, histogram }) {
  const [p50Ms, p95Ms, p99Ms] = quantilesOf(histogram, RATIOS).map((us) => us / 1000)
  return { count, p50Ms, p95Ms, p99Ms, errorRatio: count === 0 ? 0 : errors / count }
}

/** The series with the most requests; found without a histogram, for there may be a thousand. */
function busiest({ series, tables: { counters } }, most) {
  const countOf = ({ row }) => {
    const start = row * COUNTERS
    return counters.values.subarray(start, start + OUTCOMES.length).reduce((sum, count) => sum + count, 0)
  }
  return series
    .map((each) => ({ each, count: countOf(each) }))
    .sort((a, b) => b.count - a.count)
    .slice(0, most)
    .map(({ each }) => each)
}

/** Of all requests that came, those turned away, which are in no other number. */
const shedRatioOf = (shed, count) => (shed === 0 ? 0 : shed / (shed + count))

function routeFigures(latency, shed) {
  return { ...figuresOf(latency), shedRatio: shedRatioOf(shed, latency.count) }
}

function takeFigures({ admission, recorder, clock }, mostRoutes) {
  const nowMs = clock.now()
  const requests = figuresOf(recorder.all.sinceStart(nowMs))
  const shed = admission.stats.shed.reduce((sum, count) => sum + count, 0)
  return {
    requests: { ...requests, shedRatio: shedRatioOf(shed, requests.count) },
    routes: busiest(recorder.routes, mostRoutes).map(({ method, route, row, latency }) => ({
      method,
      route,
      ...routeFigures(
        latency.sinceStart(nowMs),
        recorder.routes.tables.counters.values[row * COUNTERS + SHED]
      ),
    })),
  }
}

module.exports = { shedRatioOf, takeFigures }

'use strict'
// What a soak must have come to: every request has the outcome that its client gave it, and nothing is left.

const TARGETS = { inFlight: 0, growthRatio: 1.1, growthBytes: 2_000_000, routeBytes: 40_000 }
const sumOf = (values) => values.reduce((sum, value) => sum + value, 0)
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`

/** @returns {[what: string, isMet: boolean][]} */
function judgeSide({
  framework,
  sent,
  expected,
  inFlight,
  total,
  counts,
  uncaught,
  connections,
  areListenersKept,
}) {
  const compared = Object.entries(expected).map(([name, count]) => `${counts[name] ?? 0} ${name} (${count})`)
  return [
    [`${framework}: ${inFlight} in flight`, inFlight === TARGETS.inFlight],
    [`${framework}: ${total} outcomes of ${sent} requests sent`, total === sent],
    [
      `${framework}: ${compared.join(', ')}`,
      Object.entries(expected).every(([name, count]) => (counts[name] ?? 0) === count),
    ],
    [`${framework}: ${uncaught} uncaught exceptions and rejections`, uncaught === 0],
    [
      `${framework}: ${connections} connections and ${areListenersKept ? 'no listener' : 'LISTENERS'} left`,
      connections === 0 && areListenersKept,
    ],
  ]
}

/** @returns {[what: string, isMet: boolean][]} */
function judge({ sides, memory, areProcessListenersKept }, { requests: wanted, bytesPerRoute }) {
  const [{ bytes: first }, , { bytes: last }] = memory
  const marks = memory.map(({ requests, bytes }) => `${megabytes(bytes)} after ${requests}`)
  const allowed = first * TARGETS.growthRatio + TARGETS.growthBytes
  const sent = sumOf(sides.map((side) => side.sent))
  return [
    [`${sent} requests of ${wanted}`, sent >= wanted],
    ...sides.flatMap(judgeSide),
    [`listeners of the process ${areProcessListenersKept ? 'as before' : 'LEFT'}`, areProcessListenersKept],
    [`memory held: ${marks.join(', ')}; at most ${megabytes(allowed)}`, last <= allowed],
    [
      `${(bytesPerRoute / 1000).toFixed(1)} kB per method and route, at most ${TARGETS.routeBytes / 1000}`,
      bytesPerRoute <= TARGETS.routeBytes,
    ],
  ]
}

module.exports = { judge }

'use strict'
// The times at which the requests of an open loop are sent, all known before the first is sent.

/**
 * @param {{ rate: number, seconds: number }[]} phases
 * @param {'constant' | 'poisson' | 'closed'} arrivals in a closed load answers bring requests, not the clock
 * @returns {{ times: number[], endMs: number }} as ms from the start
 */
function schedule(phases, arrivals) {
  const times = []
  let phaseStartMs = 0
  for (const { rate, seconds } of phases) {
    const end = phaseStartMs + seconds * 1000
    const gap = () => (arrivals === 'poisson' ? -Math.log(1 - Math.random()) : 1) * (1000 / rate)
    if (arrivals !== 'closed') for (let at = phaseStartMs + gap(); at < end; at += gap()) times.push(at)
    phaseStartMs = end
  }
  return { times, endMs: phaseStartMs }
}

module.exports = { schedule }

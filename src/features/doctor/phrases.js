'use strict'
// How figures are written in the sentences of the doctor.

const KILO = 1000

/** @param {number} share from 0 to 1 */
const percent = (share) => {
  const value = share * 100
  return `${value < 10 && value > 0 ? Math.max(0.1, Math.round(value * 10) / 10) : Math.round(value)} %`
}

/** @param {number} ms */
function duration(ms) {
  if (ms < 10) return `${Math.round(ms * 10) / 10} ms`
  if (ms < KILO) return `${Math.round(ms)} ms`
  const seconds = ms / KILO
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`
  if (seconds < 120) return `${Math.round(seconds)} s`
  const minutes = seconds / 60
  return minutes < 120 ? `${Math.round(minutes)} minutes` : `${Math.round(minutes / 60)} hours`
}

/** @param {number} bytes */
const megabytes = (bytes) => `${Math.round(bytes / 1e6)} MB`

/** @param {number} count @param {string} noun */
const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** @param {{ method?: string | null, route: string | null }} of */
const routeName = ({ method, route }) => [method, route ?? '(unmatched)'].filter(Boolean).join(' ')

/** @typedef {{ name: string, value: number, unit: string }} Evidence */

/** @returns {Evidence} */
const evidence = (name, value, unit = '') => ({ name, value: Math.round(value * 1000) / 1000, unit })

module.exports = { counted, duration, evidence, megabytes, percent, routeName }

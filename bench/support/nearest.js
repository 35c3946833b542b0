'use strict'
// Suggests the name that somebody most likely meant by a name that does not exist.

/** The share of the letters that may differ. */
const NEAR = 0.5

/** @returns {string} a question after a message, or nothing if no name is near */
function didYouMean(word, names) {
  const costOf = (name) => (name.includes(word) || word.includes(name) ? 0 : distance(word, name))
  const best = names.reduce((found, name) => (costOf(name) < costOf(found) ? name : found))
  return costOf(best) <= NEAR * Math.max(word.length, best.length) ? ` Did you mean '${best}'?` : ''
}

/** Levenshtein: how many letters to change, add or drop. */
function distance(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const changed = row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(changed, row[j] + 1, next[j - 1] + 1))
    }
    row = next
  }
  return row[to.length]
}

module.exports = { didYouMean }

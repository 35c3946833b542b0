'use strict'
// Takes a profile as `npx spillway profile` and `npx spillway heap` do: POST to the admin server, which answers a line of progress every half
// second and then the tables.

/** A start on a busy process, and the work on the samples. */
const MORE_MS = 60_000

/**
 * @param {import('./watch').Watch} watch
 * @param {'profile' | 'heap'} kind
 * @param {number} seconds
 * @returns {Promise<any>} the tables: `functions`, `files` and `packages`, the costliest first
 */
const takeProfile = (watch, kind, seconds) => watch.restDuring(() => profileOf(watch, kind, seconds))

async function profileOf(watch, kind, seconds) {
  const answer = await fetch(`${watch.url}/${kind}?seconds=${seconds}`, {
    method: 'POST',
    headers: { Accept: 'application/x-ndjson' },
    signal: AbortSignal.timeout(seconds * 1000 + MORE_MS),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`The ${kind} was refused: ${text.trim()}`)
  const lines = text.trim().split('\n')
  const { error, result } = JSON.parse(lines.at(-1))
  if (result === undefined) throw new Error(`The ${kind} failed: ${error}`)
  return result
}

module.exports = { takeProfile }

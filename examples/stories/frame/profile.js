'use strict'
// Takes a profile as `npx spillway profile` and `npx spillway heap` do: POST to the admin server, which
// answers a line of progress every half second and then the tables.

const path = require('node:path')
const { setTimeout: delay } = require('node:timers/promises')

/** Time for the start of a profile in a busy process, and for the work on its samples. */
const MORE_MS = 60_000

/**
 * @param {import('./watch').Watch} watch
 * @param {'profile' | 'heap'} kind
 * @param {number} seconds
 * @returns {Promise<any>} the tables: `functions`, `files` and `packages`, the costliest first
 */
async function takeProfile(watch, kind, seconds) {
  const profile = await watch.restDuring(() => profileOf(watch, kind, seconds))
  watch.profiles.push(profile)
  return profile
}

/** The costliest function of the application itself, in a sentence. A short profile may have seen none. */
function costliestText(functions) {
  const own = functions.find((each) => each.package === null)
  if (own === undefined) return 'no function of the application was seen'
  const { name, file, line, selfShare } = own
  return `${Math.round(selfShare * 100)} % of the CPU time in ${name} (${path.basename(file)}:${line})`
}

async function profileOf(watch, kind, seconds) {
  const answer = await fetch(`${watch.url}/${kind}?seconds=${seconds}`, {
    method: 'POST',
    headers: { Accept: 'application/x-ndjson' },
    signal: AbortSignal.timeout(seconds * 1000 + MORE_MS),
  })
  const text = await answer.text()
  // The event loop rests after each profile, for as long as the answer says.
  if (answer.status === 429) {
    await delay(Number(answer.headers.get('retry-after')) * 1000)
    return profileOf(watch, kind, seconds)
  }
  if (!answer.ok) throw new Error(`The ${kind} was refused: ${text.trim()}`)
  const lines = text.trim().split('\n')
  const { error, result } = JSON.parse(lines.at(-1))
  if (result === undefined) throw new Error(`The ${kind} failed: ${error}`)
  return result
}

module.exports = { costliestText, takeProfile }

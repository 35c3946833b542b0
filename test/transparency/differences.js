'use strict'
// What differs between the outcomes of a suite without spillway and with it. An outcome is how a test ended
// and what it noted. What was ever seen without is no difference: a test that is unsteady by itself says
// nothing.

const textOf = ({ status, notes }) => JSON.stringify([status, notes])

/**
 * @param {Map<string, { status: string, notes: string[] }>[]} without outcomes by test, of each run
 * @param {Map<string, { status: string, notes: string[] }>[]} given the same, with spillway
 */
function differences(without, given) {
  const names = new Set([...without, ...given].flatMap((run) => [...run.keys()]))
  const found = []
  for (const name of names) {
    const usual = new Set(without.map((run) => outcomeOf(run, name)).map(textOf))
    const odd = given.map((run) => outcomeOf(run, name)).find((outcome) => !usual.has(textOf(outcome)))
    if (odd !== undefined) found.push({ name, without: outcomeOf(without[0], name), given: odd })
  }
  return found
}

const outcomeOf = (run, name) => run.get(name) ?? { status: 'missing', notes: [] }

/** Where two outcomes part: the first note of each that is not the other's. */
function parting({ without, given }) {
  if (without.status !== given.status) return [described(without), described(given)]
  const at = without.notes.findIndex((note, i) => note !== given.notes[i])
  const index = at < 0 ? without.notes.length : at
  return [without.notes[index] ?? 'no such note', given.notes[index] ?? 'no such note']
}

const described = ({ status, error }) => (error === undefined ? status : `${status}: ${error}`)

module.exports = { differences, parting }

'use strict'
// `spillway doctor`: what is wrong with the process, and what to do. The exit code tells
// a script whether something is wrong.

const { textOf } = require('../../features/doctor/diagnosis-text')
const { EXIT } = require('../command-error')
const { jsonLines, printable } = require('../printable-text')
const { nextOfFinding } = require('../next-steps')

/** @import { Output, Style } from '../output' */

/** A longer line of prose is hard to read. */
const MAX_WIDTH = 100
/** @type {Record<string, Style>} */
const STYLES = { HIGH: 'red', MEDIUM: 'yellow', LOW: 'dim' }

/** @type {import('../commands').Command} */
const doctor = {
  name: 'doctor',
  about: 'what is wrong with the process, with figures and the next step',
  more: [
    'Exit code: 0 nothing is wrong, or too little traffic to tell; 1 something is wrong; 2 it could not be asked.',
  ],
  options: {},
  examples: [
    ['spillway doctor', 'ask the service at port 9464'],
    ['spillway doctor 9465 || alert-somebody', 'in a script'],
    ['spillway doctor --json | jq .findings[0]', 'the first finding'],
  ],
  async run({ client, values, out, err }) {
    const { answer: diagnosis, note } = await client.askEither((either) => either.getJson('/doctor'))
    if (note !== undefined) (values.json ? err : out).print([note, ''])
    out.print(values.json ? jsonLines(diagnosis, out) : doctorLines(diagnosis, out, client.url))
    return diagnosis.healthy === false ? EXIT.unhealthy : EXIT.done
  },
}

/**
 * @param {import('../../../index.js').Diagnosis} diagnosis
 * @param {Pick<Output, 'paint' | 'lineWidth'>} out
 * @param {string} url of the service
 */
function doctorLines(diagnosis, { paint, lineWidth }, url) {
  const width = Math.min(MAX_WIDTH, lineWidth)
  const lines = textOf(diagnosis, {
    width,
    nextOf: (finding) => nextOfFinding(finding, url, diagnosis.blockedMs !== undefined),
  })
    .trimEnd()
    .split('\n')
    .map(printable)
  if (diagnosis.findings.length === 0) return [paint(diagnosis.healthy ? 'green' : undefined, lines[0])]
  return lines.map((line) => {
    const [word] = line.split(' ', 1)
    return Object.hasOwn(STYLES, word) ? paint('bold', paint(STYLES[word], line)) : line
  })
}

module.exports = { doctor, doctorLines }

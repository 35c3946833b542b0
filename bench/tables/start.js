'use strict'
// The table of `npm run bench -- start`, and its sentence for README.md.

const { PROM_BUNDLE, SPILLWAY } = require('../start/variants')
const { byNode, leading, stamp, table } = require('./markdown')

const ms = (value) => (value === undefined ? '–' : value.toFixed(1))
const signed = (value) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`
const mark = ({ isDisturbed }) => (isDisturbed ? ' ?' : '')
const withAdded = (value, added) => `${value}${added === undefined ? '' : ` (${signed(added)})`}`

const sectionOf = ([{ rows, runs, ...results }], major) =>
  [
    table(
      [
        `Node ${major}`,
        'process start to ready, ms',
        '`require`, ms',
        'set-up, ms',
        'listen, ms',
        'heap, MB',
        'resident, MB',
        'own files',
        "dependencies' files",
      ],
      rows.map(({ variant, added, ...row }) => [
        variant,
        withAdded(`${row.readyMs.toFixed(1)} ± ${row.plusMinusMs.toFixed(1)}`, added?.readyMs) + mark(row),
        ms(row.requireMs),
        ms(row.setUpMs),
        ms(row.listenMs),
        withAdded(row.heapMb.toFixed(1), added?.heapMb),
        withAdded(row.rssMb.toFixed(1), added?.rssMb),
        row.ownFiles,
        row.dependencyFiles,
      ])
    ),
    '',
    `Medians of ${runs} starts, each in a new process, the variants in turn. The figure after ± is half the distance between the quartiles. ` +
      'In brackets is what a package adds to Express, and Express to `http`: the median of the differences. ' +
      'Times leave out waits for a core. "?" marks rows where these waits were more than 15 % of a start. ' +
      stamp(results, 'start'),
  ].join('\n')

const startTable = () => byNode(['start'], sectionOf)

/** What a start costs with the package that the sentence before it compares with. */
function startSentence() {
  const { date, rows } = leading('start')
  const costOf = (variant) => {
    const { added, ...row } = rows.find((each) => each.variant === variant)
    return {
      ms: `${Math.round(added.readyMs)} ms${mark(row)}`,
      mb: `${added.heapMb.toFixed(1)} MB`,
      files: row.ownFiles + row.dependencyFiles,
    }
  }
  const [ours, theirs] = [costOf(SPILLWAY), costOf(PROM_BUNDLE)]
  return (
    `Spillway adds ${ours.ms}, ${ours.mb} of heap and ${ours.files} files to the start of an Express application. ` +
    `The package express-prom-bundle with prom-client's default metrics adds ${theirs.ms}, ${theirs.mb} and ` +
    `${theirs.files} files (\`npm run bench -- start\`, ${date}).`
  )
}

module.exports = { startSentence, startTable }

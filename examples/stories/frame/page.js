'use strict'
// Writes a story down, for --save: the table and what Spillway said into README.md of its folder, between
// <!-- figures --> and <!-- /figures -->, and its picture as story.svg.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { barPicture, picture } = require('./picture')
const { rowsOf } = require('./rows')
const { TIMES, isDisturbed, saidLines } = require('./said-lines')

const [OPEN, SHUT] = ['<!-- figures -->', '<!-- /figures -->']
const COLUMNS = 100

function savePage(story, told) {
  const file = path.join(story.folder, 'README.md')
  const before = fs.readFileSync(file, 'utf8')
  const [from, to] = [before.indexOf(OPEN), before.indexOf(SHUT)]
  if (from === -1 || to < from)
    throw new Error(`${file} needs ${OPEN} and ${SHUT}, each on a line of its own.`)
  fs.writeFileSync(file, `${before.slice(0, from)}${OPEN}\n${figures(story, told)}\n${before.slice(to)}`)
  const { bars, barsTitle, panels, title } = story.picture
  const drawn =
    bars === undefined ? picture(title, panelsOf(panels, told)) : barPicture(barsTitle, bars(told))
  fs.writeFileSync(path.join(story.folder, 'story.svg'), drawn)
}

function figures(story, told) {
  const table = story.markdown?.(told) ?? markdownTable(told)
  const silent = new Set(story.runs.filter(({ isSilent }) => isSilent).map(({ name }) => name))
  const heard = told.runs.filter(({ name }) => !silent.has(name))
  const said = heard.flatMap((run) => [`${run.name}:`, ...saidLines(run, COLUMNS), ''])
  return [
    ...table,
    '',
    machineLine(told),
    '',
    `What Spillway said by itself. ${TIMES}`,
    '',
    '```text',
    ...said.slice(0, -1),
    '```',
  ].join('\n')
}

function markdownTable(told) {
  const rows = rowsOf(told).map(({ cells, head }) =>
    cells.length === 0 ? [`**${head}**`, ...told.runs.map(() => '')] : [head.trim(), ...cells]
  )
  const heads = ['', ...told.runs.map(({ name }) => name)]
  return [heads, ['---', ...told.runs.map(() => '---:')], ...rows].map((cells) => `| ${cells.join(' | ')} |`)
}

function machineLine({ date, node, runs, story }) {
  const [{ model = 'unknown CPU' } = {}] = os.cpus()
  const isBusy = runs.some(isDisturbed)
  return `\`npm run story ${story}\`, ${date.slice(0, 10)}: ${model.trim()}, ${os.availableParallelism()} cores, ${os.platform()}, Node ${node}.${isBusy ? ' Other programs ran beside it: the figures are rough.' : ''}`
}

/** Panels say which figure of which part they show, or have a function of their own. */
const panelsOf = (panels, told) =>
  panels.map(({ figure, of, part, without, ...panel }) => ({
    ...panel,
    lines:
      of?.(told) ??
      told.runs
        .filter(({ name }) => name !== without)
        .map((run) => ({ name: run.name, points: pointsOf(run, part, figure) })),
  }))

/** @returns {[number, number][]} */
function pointsOf(run, part, figure) {
  if (part === undefined)
    return run.memory.samples.map(({ second, [figure]: bytes }) => [second, bytes / 1e6])
  const { seconds = [] } = run.parts.find(({ name }) => name === part) ?? {}
  return seconds.map((each, i) => [i + 1, each[figure]]).filter(([, value]) => value !== null)
}

module.exports = { savePage }

'use strict'
// Draws the results of `overload` as docs/goodput.svg (goodput over offered load, a line for each policy) and
// as docs/step.svg (a step from half the capacity to ten times it and back, second by second). Plain SVG with
// colours that are readable on white and on black, so that a page needs a single file of each.

const fs = require('node:fs')
const path = require('node:path')
const { leading } = require('./markdown')

const DOCS = path.join(__dirname, '..', '..', 'docs')
const NAMES = {
  none: 'no policy',
  attach: 'spillway attach()',
  middleware: 'spillway middleware',
  'overload-protection-100': 'overload-protection, 100 ms',
  'toobusy-js-20': 'toobusy-js, 20 ms',
  'under-pressure': 'under-pressure, 100 ms',
  heavy: '@hapi/heavy, 100 ms',
}
/** A variant of one of the others, which the table has. */
const NOT_DRAWN = new Set(['attach-classes', 'behind'])
const OURS = new Set(['attach', 'middleware'])
const COLORS = [
  '#8a8f98',
  '#1a9850',
  '#4393c3',
  '#d6604d',
  '#b8860b',
  '#9467bd',
  '#c2568c',
  '#8c6d4f',
  '#3aa6a6',
]
const GREY = '#808080'
const LEFT = 56
const PLOT_WIDTH = 480
const RIGHT = 200

const nameOf = (policy) => NAMES[policy] ?? policy
const round1 = (value) => Math.round(value * 10) / 10
const text = (x, y, content, extra = '') =>
  `<text x="${round1(x)}" y="${round1(y)}" ${extra}>${content}</text>`
const stroke = (x1, y1, x2, y2) =>
  `<line x1="${round1(x1)}" y1="${round1(y1)}" x2="${round1(x2)}" y2="${round1(y2)}" stroke="${GREY}" stroke-opacity=".35"/>`

/** A frame with its scales, and lines drawn in it. `x` and `y`: { most, ticks, title }. */
function panel({ top, height, x, y, lines }) {
  const atX = (value) => LEFT + (Math.min(value, x.most) / x.most) * PLOT_WIDTH
  const atY = (value) => top + height - (Math.min(value, y.most) / y.most) * height
  const parts = [text(LEFT, top - 10, y.title, 'font-weight="600"')]
  for (const tick of y.ticks) {
    parts.push(stroke(LEFT, atY(tick), LEFT + PLOT_WIDTH, atY(tick)))
    parts.push(text(LEFT - 8, atY(tick) + 4, y.label?.(tick) ?? tick, 'text-anchor="end"'))
  }
  for (const tick of x.ticks) {
    parts.push(stroke(atX(tick), top, atX(tick), top + height))
    parts.push(text(atX(tick), top + height + 18, x.label?.(tick) ?? tick, 'text-anchor="middle"'))
  }
  if (x.title) parts.push(text(LEFT + PLOT_WIDTH / 2, top + height + 38, x.title, 'text-anchor="middle"'))
  let lastLabelY = Number.NEGATIVE_INFINITY
  const ends = lines.map((line) => ({ ...line, endY: atY(line.points.at(-1)?.[1] ?? 0) }))
  for (const { name, color, width = 2, points, endY } of ends.sort((a, b) => a.endY - b.endY)) {
    const corners = points.map(([px, py]) => `${round1(atX(px))},${round1(atY(py))}`).join(' ')
    parts.push(`<polyline points="${corners}" fill="none" stroke="${color}" stroke-width="${width}"/>`)
    // A name stands where its line ends, and at least a line's height from the next name.
    lastLabelY = Math.max(endY + 4, lastLabelY + 15)
    parts.push(text(LEFT + PLOT_WIDTH + 16, lastLabelY, name, `style="fill:${color}"`))
  }
  return parts.join('\n')
}

function write(name, height, title, panels) {
  fs.mkdirSync(DOCS, { recursive: true })
  const width = LEFT + PLOT_WIDTH + RIGHT
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">\n` +
    `<style>text{font:12px system-ui,sans-serif;fill:${GREY}}</style>\n${panels.join('\n')}\n</svg>\n`
  fs.writeFileSync(path.join(DOCS, `${name}.svg`), svg)
  process.stdout.write(`wrote docs/${name}.svg\n`)
}

function drawGoodput() {
  const { rows } = leading('overload-cpu')
  const policies = [...new Set(rows.map(({ policy }) => policy))].filter((policy) => !NOT_DRAWN.has(policy))
  const lines = policies.map((policy, index) => ({
    name: nameOf(policy),
    color: COLORS[index % COLORS.length],
    width: OURS.has(policy) ? 3 : 1.5,
    points: [[0, 0], ...rows.filter((row) => row.policy === policy).map((row) => [row.multiple, row.ratio])],
  }))
  const x = { most: 10, ticks: [0, 1, 2, 5, 10], title: 'offered load / capacity', label: (at) => `${at}x` }
  const y = {
    most: 1.05,
    ticks: [0, 0.25, 0.5, 0.75, 1],
    title: 'Answered within 250 ms / capacity',
    label: (at) => `${at * 100}%`,
  }
  write('goodput', 360, 'Goodput over offered load', [panel({ top: 30, height: 280, x, y, lines })])
}

function drawStep() {
  const { lines, steps } = leading('overload-step')
  const seconds = steps.reduce((sum, step) => sum + step.seconds, 0)
  const x = { most: seconds, ticks: Array.from({ length: seconds + 1 }, (_, second) => second) }
  const series = (pick) =>
    lines.map((line, index) => ({
      name: nameOf(line.policy),
      color: COLORS[index],
      points: line.timeline
        .slice(0, (seconds * 1000) / line.bucketMs)
        .map((bucket, at) => [((at + 1) * line.bucketMs) / 1000, pick(bucket, line)]),
    }))
  const goodput = series(({ good }, { bucketMs, capacity }) => (good * 1000) / bucketMs / capacity)
  // A bucket without an answer is drawn at the top.
  const p99 = series((bucket) => bucket.p99Ms ?? 1000)
  const share = {
    most: 1.25,
    ticks: [0, 0.5, 1],
    title: 'Answered within 250 ms / capacity',
    label: (at) => `${at * 100}%`,
  }
  const time = {
    most: 1000,
    ticks: [0, 250, 500, 1000],
    title: 'p99 of the answers, ms (1000: that or none)',
  }
  const title = `${steps.map(({ multiple, seconds: length }) => `${length} s of ${multiple}x`).join(', ')}`
  write('step', 430, 'Goodput and latency around a step of load', [
    panel({ top: 30, height: 150, x, y: share, lines: goodput }),
    panel({ top: 230, height: 150, x: { ...x, title: `seconds: ${title}` }, y: time, lines: p99 }),
  ])
}

module.exports = { drawGoodput, drawStep }

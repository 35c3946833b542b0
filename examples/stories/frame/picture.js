'use strict'
// Draws the runs of a story over their seconds as story.svg: a panel for each figure, a line for each run.
// Plain SVG in colours that are readable on white and on black, so that a page needs a single file.

const GREY = '#808080'
const COLORS = ['#d6604d', '#1a9850', '#4393c3', '#b8860b', '#9467bd', '#c2568c', '#8a8f98', '#5f9ea0']
const OURS = COLORS[1]
const OTHERS = COLORS[6]
const LEFT = 64
const PLOT_WIDTH = 470
const RIGHT = 150
const PANEL_HEIGHT = 130
const PANEL_STEP = 195
const BAR_STEP = 24
/** Where the first panel or bar begins, below the title. */
const TOP = 62
/** Below the title of bars stands which are ours. */
const BARS_TOP = 60

/**
 * @typedef {object} Panel
 * @property {string} title
 * @property {'log' | 'linear'} [scale]
 * @property {string} [unit] behind the numbers of its scale
 * @property {{ name: string, points: [x: number, y: number][] }[]} lines
 * @property {string} [xTitle]
 */

const round1 = (value) => Math.round(value * 10) / 10
const escaped = (content) => String(content).replace(/&/g, '&amp;').replace(/</g, '&lt;')
const BOLD = 'style="font-weight:600"'
const text = (x, y, content, extra = '') =>
  `<text x="${round1(x)}" y="${round1(y)}" ${extra}>${escaped(content)}</text>`
const rule = (x1, y1, x2, y2) =>
  `<line x1="${round1(x1)}" y1="${round1(y1)}" x2="${round1(x2)}" y2="${round1(y2)}" stroke="${GREY}" stroke-opacity=".35"/>`

/** @param {string} title @param {Panel[]} panels @returns {string} */
function picture(title, panels) {
  // One axis of time for all panels of seconds, so that what stands below each other is of one moment.
  const mostSeconds = mostXOf(panels.filter(({ xTitle }) => xTitle === undefined))
  const drawn = panels.map((panel, i) =>
    panelOf(panel, TOP + i * PANEL_STEP, panel.xTitle === undefined ? mostSeconds : mostXOf([panel]))
  )
  return svgOf(title, TOP - 30 + panels.length * PANEL_STEP + 5, drawn)
}

const mostXOf = (panels) =>
  Math.max(1, ...panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(([x]) => x))))

/**
 * @param {string} title
 * @param {{ name: string, value: number, isOurs: boolean }[]} bars their values are per cent
 * @returns {string}
 */
function barPicture(title, bars) {
  const left = 220
  const rows = bars.map(({ name, value, isOurs }, i) => {
    const y = BARS_TOP + i * BAR_STEP
    const color = isOurs ? OURS : OTHERS
    const width = Math.max(1, (Math.min(value, 100) / 100) * (LEFT + PLOT_WIDTH + RIGHT - left - 60))
    return [
      text(left - 8, y + 12, name, 'text-anchor="end"'),
      `<rect x="${left}" y="${y}" width="${round1(width)}" height="16" fill="${color}"/>`,
      text(left + width + 6, y + 12, `${value} %`, `style="fill:${color}"`),
    ].join('\n')
  })
  const keys = [
    [left, OURS, 'with Spillway'],
    [left + 130, OTHERS, 'without'],
  ].map(
    ([x, color, name]) =>
      `<rect x="${x}" y="32" width="12" height="12" fill="${color}"/>\n${text(Number(x) + 18, 42, name)}`
  )
  return svgOf(title, BARS_TOP + 5 + bars.length * BAR_STEP, [...keys, ...rows])
}

function svgOf(title, height, drawn) {
  const width = LEFT + PLOT_WIDTH + RIGHT
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">\n` +
    `<style>text{font:12px system-ui,sans-serif;fill:${GREY}}</style>\n` +
    `${text(0, 17, title, 'style="font-size:15px;font-weight:600"')}\n${drawn.join('\n')}\n</svg>\n`
  )
}

function panelOf({ lines, scale = 'linear', title, unit = '', xTitle = 'seconds' }, top, mostX) {
  const points = lines.flatMap((line) => line.points)
  const y =
    scale === 'log'
      ? logScale(points.map(([, value]) => value))
      : linearScale(points.map(([, value]) => value))
  const atX = (value) => LEFT + (value / mostX) * PLOT_WIDTH
  const atY = (value) => top + PANEL_HEIGHT * (1 - y.at(value))
  const parts = [text(LEFT, top - 12, scale === 'log' ? `${title} (logarithmic scale)` : title, BOLD)]
  for (const tick of y.ticks) {
    parts.push(rule(LEFT, atY(tick), LEFT + PLOT_WIDTH, atY(tick)))
    parts.push(text(LEFT - 8, atY(tick) + 4, `${tick}${unit}`, 'text-anchor="end"'))
  }
  const step = Math.max(1, Math.ceil(mostX / 12))
  for (let tick = 0; tick <= mostX; tick += step)
    parts.push(text(atX(tick), top + PANEL_HEIGHT + 17, tick, 'text-anchor="middle"'))
  // Below the numbers: names of lines may stand beside them.
  parts.push(text(LEFT + PLOT_WIDTH, top + PANEL_HEIGHT + 34, xTitle, 'text-anchor="end"'))
  let lastY = Number.NEGATIVE_INFINITY
  const ends = lines
    .map((line, i) => ({ ...line, color: colorOf(i, lines.length) }))
    .filter((line) => line.points.length > 0)
    .map((line) => ({ ...line, endX: atX(line.points.at(-1)[0]), endY: atY(line.points.at(-1)[1]) }))
  for (const { name, color, points: at, endX, endY } of ends.sort((a, b) => a.endY - b.endY)) {
    const corners = at.map(([px, py]) => `${round1(atX(px))},${round1(atY(py))}`).join(' ')
    parts.push(
      `<polyline points="${corners}" fill="none" stroke="${color}" stroke-width="2" stroke-linejoin="round"/>`
    )
    // A name stands where its line ends, at least a line's height below the name above.
    lastY = Math.max(endY + 4, lastY + 15)
    parts.push(text(endX + 8, lastY, name, `style="fill:${color}"`))
  }
  return parts.join('\n')
}

/** The last run is the mended one, in green. */
function colorOf(i, count) {
  if (i === count - 1 && count > 1) return COLORS[1]
  return COLORS[i === 0 ? 0 : (i + 1) % COLORS.length]
}

function linearScale(values) {
  const most = Math.max(...values, 1)
  const power = 10 ** Math.floor(Math.log10(most))
  const step = [0.2, 0.5, 1, 2].map((times) => times * power).find((each) => most / each <= 5) ?? power
  const top = Math.ceil(most / step) * step
  const ticks = Array.from(
    { length: Math.round(top / step) + 1 },
    (_, i) => Math.round(i * step * 1000) / 1000
  )
  return { at: (value) => value / top, ticks }
}

/** Powers of ten. What is below the lowest is drawn on it. */
function logScale(values) {
  const above = values.filter((value) => value > 0)
  const from = Math.floor(Math.log10(Math.max(0.1, Math.min(...above, 1))))
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...above, 1))))
  const ticks = Array.from({ length: to - from + 1 }, (_, i) => Math.round(10 ** (from + i) * 1000) / 1000)
  return { at: (value) => Math.max(0, (Math.log10(Math.max(value, 10 ** from)) - from) / (to - from)), ticks }
}

module.exports = { barPicture, picture }

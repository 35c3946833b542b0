'use strict'
// Draws the lines of a terminal as SVG: text stays text, and the picture is sharp at any size.

const COLUMN = 8.4
const LINE = 19
const PAD = 14
const COLOURS = {
  31: '#ff7b72',
  32: '#56d364',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#39c5cf',
  90: '#8b949e',
}
const BACK = '#0d1117'
const TEXT = '#e6edf3'
const FAINT = '#8b949e'
const ESC = String.fromCharCode(27)
const PIECE = new RegExp(`${ESC}\\[([\\d;]*)m|${ESC}\\[[\\d;?]*[A-Za-z]`, 'g')

/** @param {string} title @param {string[]} lines with their colour codes @param {number} columns */
function terminalSvg(title, lines, columns) {
  const width = Math.round(columns * COLUMN + 2 * PAD)
  const height = lines.length * LINE + 2 * PAD
  const rows = lines.flatMap((line, i) => runsOf(line).map((run) => runSvg(run, PAD + (i + 1) * LINE - 5)))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14"><title>${title}</title>
<rect width="100%" height="100%" rx="8" fill="${BACK}"/>
${rows.join('\n')}
</svg>
`
}

/** Parts of a line with one look each. */
function runsOf(line) {
  const runs = []
  let look = {}
  let at = 0
  let column = 0
  // A word each: SVG shows no more than one space between words.
  const add = (text) => {
    for (const part of text.split(/( +)/)) {
      if (part.trim() !== '' || (look.isInverse && part !== '')) runs.push({ ...look, text: part, column })
      column += [...part].length
    }
  }
  for (const match of line.matchAll(PIECE)) {
    add(line.slice(at, match.index))
    at = match.index + match[0].length
    if (match[1] !== undefined) for (const code of match[1].split(';')) look = changed(look, Number(code))
  }
  add(line.slice(at))
  return runs
}

function changed(look, code) {
  if (code === 0) return {}
  if (code === 1) return { ...look, isBold: true }
  if (code === 2) return { ...look, isFaint: true }
  if (code === 22) return { ...look, isBold: false, isFaint: false }
  if (code === 7) return { ...look, isInverse: true }
  if (code === 27) return { ...look, isInverse: false }
  if (code === 39) return { ...look, colour: undefined }
  return code in COLOURS ? { ...look, colour: COLOURS[code] } : look
}

function runSvg({ text, column, colour, isBold, isFaint, isInverse }, y) {
  const x = PAD + column * COLUMN
  const width = [...text].length * COLUMN
  const fill = isInverse ? BACK : (colour ?? (isFaint ? FAINT : TEXT))
  const back = isInverse
    ? `<rect x="${x.toFixed(1)}" y="${y - 14}" width="${width.toFixed(1)}" height="${LINE}" fill="${colour ?? TEXT}"/>`
    : ''
  // Each run has its length, so that columns stand where they do with any font.
  return `${back}<text x="${x.toFixed(1)}" y="${y}" textLength="${width.toFixed(1)}" lengthAdjust="spacingAndGlyphs" fill="${fill}"${isBold ? ' font-weight="700"' : ''}>${escaped(text)}</text>`
}

const escaped = (text) =>
  text.replace(/[&<>]/g, (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[each] ?? '')

module.exports = { terminalSvg }

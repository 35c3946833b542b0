'use strict'
// A strict reader of Prometheus' text format: what it does not take, or takes twice, fails the test.

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/s
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\[\\n"])*)"(?:,|$)/sy
const SUFFIXES = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] }
const NUMBERS = {
  '+Inf': Number.POSITIVE_INFINITY,
  '-Inf': Number.NEGATIVE_INFINITY,
  NaN: Number.NaN,
  Nan: Number.NaN,
}
const UNESCAPED = { '\\\\': '\\', '\\n': '\n', '\\"': '"' }

/**
 * @typedef {{ name: string, help: string, type: string, samples: { name: string, labels: Record<string,
 *   string>, value: number }[] }} Family
 */

/** @returns {Map<string, Family>} in the order of the text */
function parse(text) {
  if (!text.endsWith('\n')) throw new Error(`the last line has no end: ${text.slice(-200)}`)
  const families = new Map()
  const seen = new Set()
  let help
  let family
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [, word, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/s.exec(line) ?? []
    if (word === 'HELP') help = { name, text: rest }
    else if (word === 'TYPE') {
      if (families.has(name)) throw new Error(`${name} is there twice`)
      if (help?.name !== name) throw new Error(`${name} has no help`)
      families.set(name, (family = { name, help: help.text, type: rest, samples: [] }))
    } else {
      const sample = parseSample(line)
      const suffixes = SUFFIXES[family?.type] ?? ['']
      if (!suffixes.some((suffix) => sample.name === family?.name + suffix))
        throw new Error(`not of ${family?.name}: ${line}`)
      const key = keyOf(sample)
      if (seen.has(key)) throw new Error(`there twice: ${line}`)
      seen.add(key)
      family.samples.push(sample)
    }
  }
  return families
}

function parseSample(line) {
  const [, name, inner = '', number] = SAMPLE.exec(line) ?? []
  if (name === undefined) throw new Error(`no sample: ${line}`)
  const labels = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < inner.length) {
    const [, label, value] = LABEL.exec(inner) ?? []
    if (label === undefined || label in labels) throw new Error(`no labels: ${line}`)
    labels[label] = value.replace(/\\[\\n"]/g, (escaped) => UNESCAPED[escaped])
  }
  const value = NUMBERS[number] ?? Number(number)
  if (Number.isNaN(value) && !/^NaN$/i.test(number)) throw new Error(`no number: ${line}`)
  return { name, labels, value }
}

/** Name and labels in one string, whatever the order of the labels. */
const keyOf = ({ name, labels }) =>
  `${name} ${JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))}`

/** Every value of these families by its name and labels, to be compared as a whole. */
function valuesOf(families) {
  const values = {}
  for (const { samples } of families) for (const sample of samples) values[keyOf(sample)] = sample.value
  return values
}

/** The one value that has these labels, among others. */
function oneValue(families, name, labels = {}) {
  const found = [...families.values()]
    .flatMap(({ samples }) => samples)
    .filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value)
    )
  if (found.length !== 1) throw new Error(`${found.length} values of ${name} ${JSON.stringify(labels)}`)
  return found[0].value
}

module.exports = { parse, oneValue, valuesOf }

'use strict'
// npm run bench -- tables
//
// Writes the tables of the saved results (bench/results) between their marks in README.md, docs/*.md and
// bench/README.md, and draws docs/goodput.svg and docs/step.svg. A table `overload` stands between <!--
// overload --> and <!-- /overload -->. Tables show the results of Node 24 first, and those of other majors
// behind it. Without results of Node 24, the newest come first.

const fs = require('node:fs')
const path = require('node:path')
const { readFlags } = require('../support/flags')
const { drawGoodput, drawStep } = require('./curves')
const { TABLES } = require('./tables')

const ROOT = path.join(__dirname, '..', '..')

/** @returns {string[]} the pages that may have tables, relative to the root */
const pagesOf = () => [
  'README.md',
  'bench/README.md',
  ...fs
    .readdirSync(path.join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** @returns {string | undefined} the page with the table in it; undefined if it has no marks for the table */
function fill(page, name, tableOf) {
  const [open, shut] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const from = page.indexOf(open)
  const to = page.indexOf(shut)
  if (from === -1 && to === -1) return undefined
  if (from === -1 || to < from) throw new Error(`${open} and ${shut} belong together.`)
  return `${page.slice(0, from + open.length)}\n${tableOf()}\n${page.slice(to)}`
}

function main() {
  readFlags({})
  const placed = new Set()
  for (const page of pagesOf()) {
    const file = path.join(ROOT, page)
    const before = fs.readFileSync(file, 'utf8')
    let text = before
    for (const [name, tableOf] of Object.entries(TABLES)) {
      const filled = fill(text, name, tableOf)
      if (filled === undefined) continue
      text = filled
      placed.add(name)
    }
    if (text === before) continue
    fs.writeFileSync(file, text)
    process.stdout.write(`wrote ${page}\n`)
  }
  const missing = Object.keys(TABLES).filter((name) => !placed.has(name))
  if (missing.length > 0) process.stdout.write(`no page has marks for ${missing.join(', ')}\n`)
  drawGoodput()
  drawStep()
}

main()

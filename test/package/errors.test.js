'use strict'
// Every error code in three places: thrown in src/, declared in index.d.ts, explained in docs/errors.md.

const assert = require('node:assert/strict')
const { readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { ROOT } = require('./pack.js')

const read = (...path) => readFileSync(join(ROOT, ...path), 'utf8')
const codesIn = (text, pattern) => [...new Set([...text.matchAll(pattern)].map(([, code]) => code))].sort()

const sources = readdirSync(join(ROOT, 'src'), { recursive: true }).filter((name) =>
  String(name).endsWith('.js')
)
const thrown = codesIn(
  sources.map((name) => read('src', String(name))).join('\n'),
  /(?:new SpillwayError|super)\(\s*'([^']*)'/g
)
/** The reasons of a signal, which are not thrown by src/ itself. */
const reasons = codesIn(read('src/features/abort-signals/abort-reasons.js'), /^ {2}(ERR_\w+):/gm)
const union = read('index.d.ts').split('export type ErrorCode =')[1]

test('src/ throws codes of its own family only', () => {
  assert.ok(thrown.length >= 5)
  for (const code of thrown) assert.match(code, /^ERR_SPILLWAY_[A-Z]+(_[A-Z]+)*$/)
})

test('the codes thrown are the codes declared', () => {
  assert.deepEqual(codesIn(union, /^ {2}\| '(\w+)'$/gm), thrown)
})

test('the codes thrown are the rows of the table in docs/errors.md', () => {
  assert.deepEqual(codesIn(read('docs/errors.md'), /^\| `(ERR_\w+)` \| .+\. \|$/gm), thrown)
})

test('the reasons of a signal are declared, and explained', () => {
  const declared = read('index.d.ts').split('export type AbortCode =')[1].split('\n\n')[0]
  assert.deepEqual(codesIn(declared, /^ {2}\| '(\w+)'$/gm), reasons)
  assert.deepEqual(codesIn(read('docs/cancellation.md'), /^\| `(ERR_\w+)` \|/gm), reasons)
})

test('README.md and docs/ name no other code', () => {
  const pages = readdirSync(join(ROOT, 'docs'), { recursive: true }).filter((name) =>
    String(name).endsWith('.md')
  )
  const text = [read('README.md'), ...pages.map((name) => read('docs', String(name)))].join('\n')
  assert.deepEqual(codesIn(text, /(ERR_SPILLWAY_\w+)/g), [...thrown, ...reasons].sort())
})

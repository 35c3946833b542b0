'use strict'
// The rules of src/ that no linter knows. A file may require what stands below it, and its own floor without a cycle.

const assert = require('node:assert/strict')
const { readdirSync, readFileSync } = require('node:fs')
const { dirname, join, relative, resolve, sep } = require('node:path')
const { test } = require('node:test')

const SRC = resolve(__dirname, '../src')
const FLOORS = [
  // A program of its own: nothing requires it.
  ['cli'],
  ['index.js', 'async-errors.js', 'register.js'],
  ['register'],
  ['spillway.js'],
  ['instance.js', 'turn-listeners.js'],
  ['adapters'],
  ['fleet'],
  ['admin'],
  ['pools'],
  ['insight'],
  ['snapshot'],
  ['metrics'],
  ['lifecycle'],
  ['releases'],
  ['cluster'],
  ['sockets'],
  ['failures'],
  ['logging'],
  ['admission'],
  ['requests'],
  ['tracing'],
  ['routing'],
  ['signals'],
  ['histograms'],
  ['redaction'],
  ['options'],
  ['environment'],
  [
    'call-place.js',
    'clock.js',
    'durations.js',
    'errors.js',
    'events.js',
    'lazy.js',
    'notices.js',
    'process-use.js',
    'replaced-method.js',
    'url-path.js',
    'version.js',
  ],
]
const PROGRAM = 'cli/executable.js'
const TIME =
  /(?<!\bsocket\.)\b(set|clear)(Timeout|Interval|Immediate)\b|\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bhrtime\b|\bnodeTiming\b|\btimers\b/

const files = readdirSync(SRC, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.js') && !entry.parentPath.endsWith('vendor'))
  .map((entry) => read(join(entry.parentPath ?? entry.path, entry.name)))

function read(path) {
  const text = readFileSync(path, 'utf8')
  const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, '')
  const required = [...code.matchAll(/\brequire\('(\.[^']+)'\)/g)].map(([, to]) =>
    require.resolve(resolve(dirname(path), to))
  )
  return { path, name: relative(SRC, path).split(sep).join('/'), text, code, required }
}

/** What runs in a browser has the browser's clock. */
const isPage = (name) => name.startsWith('admin/page/')
const nameOf = (path) => relative(SRC, path).split(sep).join('/')
const floorOf = (name) => FLOORS.findIndex((floor) => floor.includes(name.split('/')[0]))

test('every file of src/ is on a floor', () => {
  assert.ok(files.length > 20)
  assert.deepEqual(
    files.filter(({ name }) => floorOf(name) === -1).map(({ name }) => name),
    []
  )
})

test('a file requires nothing from a floor above its own, and nothing outside src/', () => {
  const upward = files.flatMap(({ name, required }) =>
    required
      .map(nameOf)
      .filter((to) => floorOf(to) < floorOf(name))
      .map((to) => `${name} -> ${to}`)
  )
  assert.deepEqual(upward, [])
})

test('the command line requires nothing of a running instance, so that it starts at once', () => {
  const allowed =
    /^(cli\/|options\/|admin\/report\/|redaction\/|insight\/doctor\/diagnosis-text\.js|clock\.js|errors\.js|version\.js)/
  const others = files
    .filter(({ name }) => name.startsWith('cli/'))
    .flatMap(({ name, required }) => required.map((to) => `${name} -> ${nameOf(to)}`))
    .filter((edge) => !allowed.test(edge.split(' -> ')[1]))
  assert.deepEqual(others, [])
})

test('a report is made from nothing but its figures, by the command line too', () => {
  const allowed = /^(admin\/report\/|admin\/page\/(chart-list|format|part-list|stall-words)\.js|version\.js)/
  const others = files
    .filter(({ name }) => name.startsWith('admin/report/'))
    .flatMap(({ name, required }) => required.map((to) => `${name} -> ${nameOf(to)}`))
    .filter((edge) => !allowed.test(edge.split(' -> ')[1]))
  assert.deepEqual(others, [])
})

test('no file requires itself over others', () => {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const done = new Set()
  const visit = (path, way) => {
    assert.ok(!way.includes(path), `cycle: ${[...way, path].map(nameOf).join(' -> ')}`)
    if (done.has(path)) return
    for (const to of byPath.get(path)?.required ?? []) visit(to, [...way, path])
    done.add(path)
  }
  for (const { path } of files) visit(path, [])
})

test('the page requires nothing but the page: the rest does not run in a browser', () => {
  const outward = files.flatMap(({ name, required }) =>
    isPage(name) ? required.map(nameOf).filter((to) => !isPage(to)) : []
  )
  assert.deepEqual(outward, [])
})

const RULES = {
  'stays under 300 lines': ({ text }) => text.split('\n').length <= 300,
  'leaves time and timers to clock.js': ({ name, code }) =>
    name === 'clock.js' || isPage(name) || !TIME.test(code),
  // The program is one file of its own room; the rest of it is given its streams.
  'leaves the console and the process to its user': ({ name, code }) =>
    name === PROGRAM || !/\bconsole\b|\bprocess\.std(out|err)\b/.test(code),
  'requires nothing but by a literal, which is all that a bundler follows': ({ code }) =>
    !/\brequire\((?!'[^']+'\))/.test(code),
  'is strict, and opens with what it is for': ({ name, text }) =>
    /^'use strict'\n\/\/ \S/.test(name === PROGRAM ? text.replace('#!/usr/bin/env node\n', '') : text),
  'is named for what it owns': ({ name }) => !/(^|\/)(utils?|helpers?|common|misc|shared)\b/.test(name),
}

for (const [rule, holds] of Object.entries(RULES)) {
  test(`every file of src/ ${rule}`, () => {
    assert.deepEqual(
      files.filter((file) => !holds(file)).map(({ name }) => name),
      []
    )
  })
}

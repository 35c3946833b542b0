'use strict'
// The rules of src/ that no linter knows: what may require what, and how a file is written.

const assert = require('node:assert/strict')
const { readdirSync, readFileSync } = require('node:fs')
const { dirname, join, relative, resolve, sep } = require('node:path')
const { test } = require('node:test')
const { FEATURES } = require('../src/feature-list')

const SRC = resolve(__dirname, '../src')
/** Parts that are not in the list of features, or require something that is not, and what they require. */
const UNLISTED = {
  cli: ['features/admin', 'features/doctor'],
  'features/admin': ['features/profiles'],
  'features/profiles': [],
  'features/register': ['instance.js'],
}
/** What each part but core/ requires beside core/, and what else it starts, or reads in `startedFeatures`. */
const NEEDS = { ...UNLISTED }
const READS = {}
for (const { name, needs = [], reads = [] } of FEATURES) {
  const part = `features/${name}`
  NEEDS[part] = [...(UNLISTED[part] ?? []), ...needs.map((other) => `features/${other}`)]
  READS[part] = reads.map((other) => `features/${other}`)
}
/** They build an instance from core/ and features/. */
const TOP = [
  'async-errors.js',
  'blocked-thread.js',
  'feature-list.js',
  'index.js',
  'instance.js',
  'register.js',
  'spillway.js',
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
  const targets = (pattern, within) =>
    [...within.matchAll(pattern)].map(([, to]) => resolve(dirname(path), to))
  const required = targets(/\brequire\('(\.[^']+)'\)/g, code).map((to) => require.resolve(to))
  /** The features that it starts, or reads once they have started. */
  const used = [
    ...[...code.matchAll(/\buse\('([\w-]+)'\)/g)].map(([, feature]) => feature),
    ...[...code.matchAll(/\bstartedFeatures\??\.(\w+)/g)].map(([, feature]) => feature),
    ...[...code.matchAll(/\bstartedFeatures: \{([^}]*)\}|\{([^}]*)\} = [\w.#?]*startedFeatures\b/g)].flatMap(
      ([, one, other]) => (one ?? other).split(',').map((each) => each.split(':')[0].trim())
    ),
  ].map((feature) => `features/${feature}`)
  /** Whose types its comments name. */
  const named = targets(/(?:\bimport\(|@import .* from )'(\.[^']+)'/g, text)
  return { path, name: relative(SRC, path).split(sep).join('/'), text, code, required, used, named }
}

/** What runs in a browser has the browser's clock. */
const isPage = (name) => name.startsWith('features/admin/page/')
const nameOf = (path) => relative(SRC, path).split(sep).join('/')
/** `core`, a feature, the command line, or a file of its own. */
const partOf = (name) => (name.startsWith('features/') ? name.split('/', 2).join('/') : name.split('/')[0])
const edgesOf = ({ name, required }) => required.map(nameOf).map((to) => [name, to])
const usesOf = ({ name, used }) => used.map((to) => [name, to])
/** The public types are everybody's, and features are given an instance. */
const OF_ALL = ['../index.js', 'instance']
const typeEdgesOf = ({ name, named }) =>
  named.map(nameOf).flatMap((to) => (OF_ALL.includes(to) ? [] : [[name, to]]))

test('every file of src/ is in core/, in a feature, or builds an instance', () => {
  assert.ok(files.length > 20)
  const known = new Set(['core', ...Object.keys(NEEDS), ...TOP])
  assert.deepEqual(
    files.filter(({ name }) => !known.has(partOf(name))).map(({ name }) => name),
    []
  )
})

test('core/ requires nothing but core/, and a feature only core/ and the features it needs', () => {
  const mayRequire = (part, other) =>
    other === part || other === 'core' || (NEEDS[part] ?? []).includes(other)
  const others = files
    .filter(({ name }) => !TOP.includes(name))
    .flatMap(edgesOf)
    .filter(([from, to]) => !mayRequire(partOf(from), partOf(to)))
  assert.deepEqual(
    others.map((edge) => edge.join(' -> ')),
    []
  )
})

test('the same holds for the types that a comment names', () => {
  const mayName = (part, other) => other === part || other === 'core' || (NEEDS[part] ?? []).includes(other)
  const others = files
    .filter(({ name }) => !TOP.includes(name))
    .flatMap(typeEdgesOf)
    .filter(([from, to]) => !mayName(partOf(from), partOf(to)))
  assert.deepEqual(
    others.map((edge) => edge.join(' -> ')),
    []
  )
})

test('a feature starts and reads only features that its entry names', () => {
  const mayUse = (part, other) => other === part || [...NEEDS[part], ...(READS[part] ?? [])].includes(other)
  const others = files
    .filter(({ name }) => partOf(name) in NEEDS)
    .flatMap(usesOf)
    .filter(([from, to]) => !mayUse(partOf(from), partOf(to)))
  assert.deepEqual(
    others.map((edge) => edge.join(' -> ')),
    []
  )
  const byKey = files.filter(({ code }) => /\bstartedFeatures\??\.?\[/.test(code))
  assert.deepEqual(
    byKey.map(({ name }) => name),
    []
  )
})

test('a feature requires, starts or reads what its entry names', () => {
  const edges = [...files.flatMap(edgesOf), ...files.flatMap(usesOf)]
  const needless = Object.entries(NEEDS).flatMap(([part, needs]) =>
    [...needs, ...(READS[part] ?? [])]
      .filter((need) => !edges.some(([from, to]) => partOf(from) === part && partOf(to) === need))
      .map((need) => `${part} -> ${need}`)
  )
  assert.deepEqual(needless, [])
})

test('a feature names each part of the instance that it uses', () => {
  // registration.js makes the instance.
  const whole = files.filter(
    ({ name, text }) =>
      name.startsWith('features/') &&
      name !== 'features/register/registration.js' &&
      /\bInstance\b/.test(text.replace(/@import \{ Instance \}|\bPick<Instance,|\bInstance\[/g, ''))
  )
  assert.deepEqual(
    whole.map(({ name }) => name),
    []
  )
})

test('the command line requires nothing of a running instance, so that it starts at once', () => {
  const allowed =
    /^(cli\/|features\/admin\/report\/|features\/doctor\/diagnosis-text\.js|core\/(options\/|redaction\/|clock\.js|readable\.js|errors\/errors\.js|version\.js))/
  const others = files
    .filter(({ name }) => name.startsWith('cli/'))
    .flatMap(({ name, required }) => required.map((to) => `${name} -> ${nameOf(to)}`))
    .filter((edge) => !allowed.test(edge.split(' -> ')[1]))
  assert.deepEqual(others, [])
})

test('a report is made from nothing but its figures, by the command line too', () => {
  const allowed =
    /^(features\/admin\/report\/|features\/admin\/page\/(chart-list|error-words|part-list|stall-words)\.js|core\/(own-files|readable|version)\.js)/
  const others = files
    .filter(({ name }) => name.startsWith('features/admin/report/'))
    .flatMap(({ name, required }) => required.map((to) => `${name} -> ${nameOf(to)}`))
    .filter((edge) => !allowed.test(edge.split(' -> ')[1]))
  assert.deepEqual(others, [])
})

test('no files require each other in a circle', () => {
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

test('the page requires nothing but the page and what its document adds: the rest does not run in a browser', () => {
  const outward = files.flatMap(({ name, required }) =>
    isPage(name) ? required.map(nameOf).filter((to) => !isPage(to) && to !== 'core/readable.js') : []
  )
  assert.deepEqual(outward, [])
})

const RULES = {
  'has at most 280 lines, comments aside': ({ text }) =>
    text.split('\n').filter((line) => !/^\s*(\/\/|\/?\*)/.test(line)).length <= 280,
  'leaves time and timers to clock.js': ({ name, code }) =>
    name === 'core/clock.js' || isPage(name) || !TIME.test(code),
  // The program is one file of cli/; the rest of it is given its streams.
  'leaves the console and the process to its user': ({ name, code }) =>
    name === PROGRAM || !/\bconsole\.\w+\(|\bprocess\.std(out|err)\b/.test(code),
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

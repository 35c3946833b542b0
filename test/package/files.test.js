'use strict'
// What is in the package as npm packs it, and how large it is.

const assert = require('node:assert/strict')
const { readdirSync, readFileSync } = require('node:fs')
const { join, relative, sep } = require('node:path')
const { before, test } = require('node:test')
const { bin } = require('../../package.json')
const { packages } = require('../../package-lock.json')
const { ROOT, pack } = require('./pack.js')

/**
 * Some 40 kB are examples with the dashboard, 130 kB docs, 130 kB their pictures, 60 kB the live page, and
 * 510 kB the source.
 */
const LIMIT_BYTES = 1_200_000

let packed
before(async () => {
  packed = await pack('--dry-run')
})

const filesIn = (folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath ?? entry.path, entry.name)))
    .map((path) => path.split(sep).join('/'))

/**
 * What the compiler wrote, what writes the dashboard, the tests of the rules, and the stories, which need
 * packages for development.
 */
const UNPUBLISHED = /^examples\/(\w+\/dist\/|stories\/|grafana\/([\w-]+\.js|rules\.test\.yml)$)/

test('the package holds src/, the types, docs and examples, and nothing else', () => {
  const types = ['async-errors.d.ts', 'index.d.ts']
  const pages = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md']
  const examples = filesIn('examples').filter((path) => !UNPUBLISHED.test(path))
  // Web pages show the dark picture from the repository.
  const docs = filesIn('docs').filter((path) => path !== 'docs/pictures/page-dark.png')
  const expected = [...filesIn('src'), ...types, ...docs, ...examples, ...pages, 'package.json']
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), expected.sort())
})

test('each relative link of README.md leads to a file of the package', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const linked = [...readme.matchAll(/\]\(([\w./-]+)(?:#[^)]*)?\)/g)].map(([, target]) => target)
  assert.ok(linked.includes('docs/options.md'))
  const paths = packed.files.map(({ path }) => path)
  const isPacked = (target) =>
    paths.some((path) => path === target || path.startsWith(target.replace(/\/?$/, '/')))
  assert.deepEqual(
    linked.filter((target) => !isPacked(target)),
    []
  )
})

/** The document, its styles, and the library of its charts. */
const PAGE =
  /^src\/features\/admin\/(report\/report\.css$|page\/(index\.html|\w+\.css|vendor\/uPlot\.(min\.css|LICENSE\.txt))$)/

test('nothing but JavaScript is in src/, and the live page', () => {
  const others = packed.files.filter(
    ({ path }) => path.startsWith('src/') && !path.endsWith('.js') && !PAGE.test(path)
  )
  assert.deepEqual(others, [])
})

test('the program can be executed, and says by what', () => {
  const { mode } = packed.files.find(({ path }) => path === bin.spillway)
  assert.equal(mode, 0o755)
  assert.match(readFileSync(join(ROOT, bin.spillway), 'utf8'), /^#!\/usr\/bin\/env node\n/)
})

test('README.md states how many packages an installation has', () => {
  const installed = Object.entries(packages).filter(
    ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional
  )
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [, stated] = readme.match(/^\| size \| An install is (\d+) packages /m)
  assert.equal(Number(stated), installed.length + 1)
})

test('the package stays under 1200 kB packed, so that its pictures and types are in it', () => {
  assert.ok(packed.size > 0 && packed.size < LIMIT_BYTES, `${packed.size} bytes`)
})

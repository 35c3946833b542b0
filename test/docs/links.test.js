'use strict'
// Every relative link of README.md, docs/ and the other pages leads to a file that is there, and every anchor
// to a heading. Code that the pages about the source name is there too.

const assert = require('node:assert/strict')
const { existsSync, readFileSync, readdirSync } = require('node:fs')
const { join, posix } = require('node:path')
const { test } = require('node:test')
const { ROOT } = require('../package/pack')
const { pages, slugOf } = require('./pages')

const byPath = new Map(pages.map((page) => [page.path, page]))
const isRelative = (target) => !/^[a-z]+:/i.test(target)

for (const { path, links } of pages) {
  test(`every link of ${path} leads somewhere`, () => {
    for (const link of links.filter(isRelative)) {
      const [file, anchor] = link.split('#')
      const target = file === '' ? path : posix.join(posix.dirname(path), file)
      assert.ok(existsSync(join(ROOT, target)), `${link}: there is no ${target}`)
      if (anchor === undefined) continue
      const page = byPath.get(target)
      assert.ok(page !== undefined, `${link}: ${target} has no headings`)
      assert.ok(page.anchors.has(anchor), `${link}: ${target} has no heading #${anchor}`)
    }
  })
}

test('README.md links to docs/README.md, which lists every page of docs/ once', () => {
  assert.ok(byPath.get('README.md').links.includes('docs/README.md'))
  const { text } = byPath.get('docs/README.md')
  const listed = [...text.matchAll(/^\| \[[^\]]+\]\(([\w-]+\.md)\) \|/gm)].map(([, file]) => `docs/${file}`)
  const all = [...byPath.keys()].filter((path) => /^docs\/[\w-]+\.md$/.test(path))
  assert.deepEqual(listed.sort(), all.filter((path) => path !== 'docs/README.md').sort())
})

const sources = readdirSync(join(ROOT, 'src'), { recursive: true })
  .map((name) => `/${String(name).replaceAll('\\', '/')}`)
  .filter((name) => name.endsWith('.js'))
  .map((name) => ({ name, text: readFileSync(join(ROOT, 'src', name), 'utf8') }))

for (const path of [
  'CONTRIBUTING.md',
  'docs/architecture.md',
  'docs/source-answers.md',
  'docs/where-to-add.md',
]) {
  test(`${path} names methods that are in their files`, () => {
    const { text } = byPath.get(path)
    for (const [named, file, code] of text.matchAll(/`([\w/.-]+\.js)` `(#?\w+(?:\(\))?)`/g)) {
      const files = sources.filter(({ name }) => name.endsWith(`/${file}`))
      assert.ok(
        files.some(({ text: source }) => source.includes(code.replace(')', ''))),
        named
      )
    }
    for (const [, method] of text.matchAll(/`(#\w+)\(\)`/g))
      assert.ok(
        sources.some(({ text: source }) => source.includes(`${method}(`)),
        method
      )
  })
}

test('anchors are made as GitHub makes them', () => {
  const seen = new Map()
  assert.equal(slugOf('`clusterPrimary()`', seen), 'clusterprimary')
  assert.equal(slugOf('What `respond` may do', seen), 'what-respond-may-do')
  assert.equal(slugOf('Plain `http`, `https` and `http2`', seen), 'plain-http-https-and-http2')
  assert.equal(slugOf('@godaddy/terminus', seen), 'godaddyterminus')
  assert.equal(slugOf('clusterPrimary', seen), 'clusterprimary-1')
})

test('the list of decisions has each record, by its title', () => {
  const { text: list } = pages.find(({ path }) => path === 'docs/decisions/README.md')
  const records = pages.filter(({ path }) => /^docs\/decisions\/\d/.test(path))
  const lines = records.map(
    ({ path, text }) => `- [${text.slice(2, text.indexOf('\n'))}](${path.slice('docs/decisions/'.length)})`
  )
  assert.deepEqual(
    list
      .split('\n')
      .filter((line) => line.startsWith('- '))
      .sort(),
    lines.sort()
  )
})

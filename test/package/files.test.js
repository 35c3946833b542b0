'use strict'
// What is in the package as npm packs it, and how large it is.

const assert = require('node:assert/strict')
const { readdirSync } = require('node:fs')
const { join, relative, sep } = require('node:path')
const { before, test } = require('node:test')
const { ROOT, pack } = require('./pack.js')

const LIMIT_BYTES = 320_000

let packed
before(async () => {
  packed = await pack('--dry-run')
})

test('the package holds src/, the types and what a reader needs, and nothing else', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      relative(ROOT, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join('/')
    )
  const types = ['async-errors.d.ts', 'index.d.ts']
  const docs = ['docs/custom-answers.md']
  const expected = [...sources, ...types, ...docs, 'CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), expected.sort())
})

test('nothing but JavaScript is in src/', () => {
  const others = packed.files.filter(({ path }) => path.startsWith('src/') && !path.endsWith('.js'))
  assert.deepEqual(others, [])
})

test('the package stays under 320 kB packed', () => {
  assert.ok(packed.size > 0 && packed.size < LIMIT_BYTES, `${packed.size} bytes`)
})

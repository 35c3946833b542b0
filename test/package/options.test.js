'use strict'
// Every option in three places: its default in src/option-table.js, in README.md and in index.d.ts.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { DEFAULTS } = require('../../src/options.js')
const { ROOT } = require('./pack.js')

const printed = (value) => (typeof value === 'string' ? `'${value}'` : String(value))

const defaults = Object.entries(DEFAULTS).flatMap(([name, value]) =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).map(([key, each]) => [`${name}.${key}`, printed(each)])
    : [[name, printed(value)]]
)

test('the option table in README.md has every option with its default, in the order of src/option-table.js', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const section = readme.split(/^## /m).find((text) => text.startsWith('Options\n'))
  assert.ok(section !== undefined, 'README.md has a section "## Options"')
  const rows = [...section.matchAll(/^\| `([\w.]+)` \| `([^`]*)` \| .+\. \|$/gm)]
  assert.deepEqual(
    rows.map(([, name, value]) => [name, value]),
    defaults
  )
})

test('index.d.ts has a sentence and the default of every option', () => {
  const types = readFileSync(join(ROOT, 'index.d.ts'), 'utf8')
  const comments = [...types.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}readonly (\w+)\?:/g)]
  const documented = new Map(
    comments.map(([, comment, key]) => [key, comment.replace(/^ *\* ?/gm, '').trim()])
  )
  for (const [name, value] of defaults) {
    const comment = documented.get(name.split('.').at(-1)) ?? ''
    assert.match(comment, /^[A-Z][\s\S]+?\.\n/, `${name} has a sentence`)
    assert.equal(comment.match(/^@default (.+)$/m)?.[1], value, `${name} has its default`)
  }
})

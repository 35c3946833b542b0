'use strict'
// Every option in three places: its default in src/core/options/table.js, in docs/options.md and in
// index.d.ts.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { DEFAULTS } = require('../../src/core/options/options.js')
const { ROOT } = require('./pack.js')

const printed = (value) => {
  if (Array.isArray(value)) return `[${value.join(', ')}]`
  return typeof value === 'string' ? `'${value}'` : String(value)
}

const defaults = Object.entries(DEFAULTS).flatMap(([name, value]) =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).map(([key, each]) => [`${name}.${key}`, printed(each)])
    : [[name, printed(value)]]
)

test('the option table in docs/options.md has every option with its default, in the order of src/core/options/table.js', () => {
  const page = readFileSync(join(ROOT, 'docs/options.md'), 'utf8')
  const section = page.split(/^## /m).find((text) => text.startsWith('Options\n'))
  assert.ok(section !== undefined, 'docs/options.md has a section "## Options"')
  const rows = [...section.matchAll(/^\| `([\w.]+)` \| `([^`]*)` \| .+\. \|$/gm)]
  assert.deepEqual(
    rows.map(([, name, value]) => [name, value]),
    defaults
  )
})

test('index.d.ts has a sentence and the default of every option', () => {
  const types = readFileSync(join(ROOT, 'index.d.ts'), 'utf8')
  const interfaces = new Map(
    [...types.matchAll(/^export interface (\w+) \{\n([\s\S]+?)^\}/gm)].map(([, name, text]) => [name, text])
  )
  const options = interfaces.get('SpillwayOptions')
  for (const [name, value] of defaults) {
    const [group, key] = name.split('.')
    const text = key === undefined ? options : interfaces.get(options.match(`${group}\\?: (\\w+)`)?.[1])
    const comments = text.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}readonly (\w+)\?:/g)
    const [, documented = ''] = [...comments].find(([, , each]) => each === (key ?? group)) ?? []
    const comment = documented.replace(/^ *\* ?/gm, '').trim()
    assert.match(comment, /^[A-Z][\s\S]+?\.\n/, `${name} has a sentence`)
    assert.equal(comment.match(/^@default (.+)$/m)?.[1], value, `${name} has its default`)
  }
})

'use strict'
// The table of the parts of a time on the live page, with as much of a document as it needs.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { makePartsTable } = require('../../src/features/admin/page/parts')

class Element {
  children = []
  append(child) {
    this.children.push(child)
  }
  setAttribute() {}
  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join('')
  }
}

function rowsOf(t, parts, requests) {
  const global = /** @type {{ document?: unknown }} */ (globalThis)
  global.document = { createElement: () => new Element() }
  t.after(() => delete global.document)
  const [, body] = /** @type {any} */ (makePartsTable(parts, requests)).children
  return body.children.map(({ children }) => children.map(({ textContent }) => textContent))
}

const PARTS = { queueMs: 0, runMs: 20, loopBusyMs: 0, gcMs: 0, waitMs: 20, bodyMs: 0 }

test('the time in the proxy stands below the parts, as the mean of a request, where a proxy stamps requests', (t) => {
  const rows = rowsOf(t, { ...PARTS, proxyMs: 3000 }, 10)
  assert.deepEqual(rows.at(-1), ['in the proxy', '300 ms'])
  assert.equal(rows.length, Object.keys(PARTS).length + 1)
})

test('without a stamp the table has the parts alone', (t) => {
  for (const parts of [PARTS, { ...PARTS, proxyMs: 0 }])
    assert.equal(rowsOf(t, parts, 10).length, Object.keys(PARTS).length)
})

'use strict'
// Labels survive whatever a route can be named, as text and as an object.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { FurtherLabels, Labels, ExtendedLabels, NO_LABELS } = require('../../src/core/metrics/labels')
const { parse } = require('../support/metrics-text')

const readBack = ({ utf8 }) => {
  const text = Buffer.from(`# HELP x y\n# TYPE x gauge\nx${utf8} 1\n`, 'latin1').toString()
  return parse(text).get('x').samples[0].labels
}

const VALUES = {
  'a template': '/users/:id',
  'a quote': 'say "hi"',
  'a backslash': 'C:\\new',
  'a backslash before a quote': '\\"',
  'a backslash before an n, which is no line break': '\\n',
  'a line break': 'one\ntwo',
  'a carriage return and a tab': 'one\r\ttwo',
  'what ends a label set': '"} 1',
  'two bytes a character': 'größe',
  'three bytes a character, and a line separator of Unicode': '路径\u2028…',
  'four bytes a character': '🚰',
  nothing: '',
}

for (const [name, value] of Object.entries(VALUES)) {
  test(`a label value may hold ${name}`, () => {
    const labels = new Labels({ http_route: value, outcome: 'completed' })
    assert.deepEqual(readBack(labels), { http_route: value, outcome: 'completed' })
    assert.deepEqual(labels.pairs, { http_route: value, outcome: 'completed' })
  })

  test(`a label value that many series have may hold ${name}`, () => {
    const labels = new ExtendedLabels(new Labels({ http_route: '/a' }), new FurtherLabels({ outcome: value }))
    assert.deepEqual(readBack(labels), { http_route: '/a', outcome: value })
    assert.deepEqual(labels.pairs, { http_route: '/a', outcome: value })
  })

  test(`a label value may hold ${name} before one that many series have`, () => {
    const labels = new ExtendedLabels(
      new Labels({ http_route: value }),
      new FurtherLabels({ outcome: 'completed' })
    )
    assert.equal(labels.utf8, new Labels({ http_route: value, outcome: 'completed' }).utf8)
  })
}

test('any label value can be read back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      assert.deepEqual(readBack(new Labels({ http_route: value })), { http_route: value })
    })
  )
})

test('half a surrogate pair, which UTF-8 cannot encode, becomes the replacement character', () => {
  assert.deepEqual(readBack(new Labels({ http_route: 'a\ud83d' })), { http_route: 'a\ufffd' })
})

test('the text has one character per byte', () => {
  const { utf8 } = new Labels({ http_route: '路' })
  assert.equal(utf8, '{http_route="\xe8\xb7\xaf"}')
})

test('without labels there are no braces', () => {
  assert.equal(NO_LABELS.utf8, '')
  assert.deepEqual(NO_LABELS.pairs, {})
})

test('the labels object is always the same and frozen, because registries cache by identity', () => {
  const labels = new Labels({ http_route: '/a' })
  const more = new ExtendedLabels(labels, new FurtherLabels({ outcome: 'completed' }))
  for (const each of [labels, more]) {
    assert.ok(Object.isFrozen(each.pairs))
    assert.equal(each.pairs, each.pairs)
  }
})

'use strict'
// A mount path of router 2.3 is kept by its layer; that of router 2.0 to 2.2 is found out by asking the
// layer's matchers, whatever the values in the URL look like.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const fc = require('fast-check')
const { mountPath } = require('../../src/core/route/express-5.js')

const layerOf = (express, path) => express.Router().use(path, () => {}).stack[0]

/** What the path of `express.Router().use(path)` is told to be for what it took of a URL. */
function told(name, path, taken) {
  const express = require(name)
  const by = mountPath(layerOf(express, path), express.Router())
  return typeof by === 'string' ? by : by(taken)
}

/** Text that a template is made of, and what looks like it. */
const value = fc.oneof(
  fc.constantFrom('a', 'b', ':p0', ':p0-:q0', 'x', 'w', 'word', 'spillway0', '%61', '%C3%A9', '*', '{', 'é'),
  fc
    .string({ minLength: 1, maxLength: 8 })
    .map((text) => encodeURIComponent(text.replace(/[\uD800-\uDFFF]/g, '')))
)
const isUsable = (text) => text !== '' && !/[-./]/.test(text)

const WILDCARD = [(i) => `/a/*p${i}/b`, ([a, b]) => `/a/${a}/${b}/b`]
const SEGMENTS = [
  [() => '/word', () => '/word'],
  [(i) => `/:p${i}`, ([a]) => `/${a}`],
  [(i) => `/:p${i}-:q${i}`, ([a, b]) => `/${a}-${b}`],
  [(i) => `/w:p${i}`, ([a]) => `/w${a}`],
  [(i) => `/x:p${i}-:q${i}x`, ([a, b]) => `/x${a}-${b}x`],
  [(i) => `/v:p${i}.:q${i}`, ([a, b]) => `/v${a}.${b}`],
  WILDCARD,
]
const part = fc.record({ kind: fc.constantFrom(...SEGMENTS), values: fc.tuple(value, value) })

describe('the path of an Express 5 mount', () => {
  it('is kept by its layer since router 2.3', () => {
    assert.equal(told('express', '/A/:b{/:c}/*d/', '/a/1/2/3'), '/A/:b{/:c}/*d')
    assert.equal(told('express', ['/a/:x', ['/b/:y']], '/b/1'), '/b/:y')
    assert.equal(told('express', ['/a', '/b/'], '/b'), '/b')
    assert.equal(told('express', ['/a/:x', /^\/re\/(\d+)/], '/re/1'), '/^\\/re\\/(\\d+)/')
  })

  it('of router 2.2 is derived from one URL, and is the same for the next', () => {
    const parts = fc.array(part, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(parts, parts, (first, second) => {
        fc.pre([...first, ...second].every(({ values }) => values.every(isUsable)))
        // With two wildcards one URL has several readings, and the one that is asked about may be another.
        fc.pre(first.filter(({ kind }) => kind === WILDCARD).length < 2)
        const path = first.map(({ kind: [write] }, i) => write(i)).join('')
        const urlOf = (by) => first.map(({ kind: [, fill] }, i) => fill(by[i % by.length].values)).join('')
        const layer = layerOf(require('express-router-2.2'), path)
        for (const taken of [urlOf(first), urlOf(second)]) {
          // Two paths of the table may differ in nothing a URL can tell; the layer itself must take it.
          if (!layer.match(taken)) continue
          assert.equal(mountPath(layer, {})(taken), path, taken)
        }
      }),
      { numRuns: 500 }
    )
  })

  it('of router 2.2 omits an optional part that is missing', () => {
    assert.equal(told('express-router-2.2', '/shop{/:lang}', '/shop'), '/shop')
    assert.equal(told('express-router-2.2', '/shop{/:lang}', '/shop/en'), '/shop/:lang')
    assert.equal(told('express-router-2.2', '/:a{-:b}', '/5'), '/:a')
    assert.equal(told('express-router-2.2', '/:a{-:b}', '/5-6'), '/:a-:b')
  })

  it('of router 2.2 is `(regexp)` for an expression', () => {
    assert.equal(told('express-router-2.2', /^\/re\/(\d+)/, '/re/42'), '(regexp)')
    assert.equal(told('express-router-2.2', ['/a', /^\/re\/(\d+)/], '/re/42'), '(regexp)')
  })

  it('of router 2.2 takes a number of probes that the client cannot choose', () => {
    const layer = layerOf(require('express-router-2.2'), '/files/:id/*path')
    const [matcher] = layer.matchers
    let asked = 0
    layer.matchers = [
      (path) => {
        asked++
        return matcher(path)
      },
    ]
    const by = mountPath(layer, {})
    for (let depth = 1; depth < 2000; depth += 100) by(`/files/7${'/x'.repeat(depth)}`)
    assert.ok(asked < 60, `asked ${asked} times`)
    const long = layerOf(require('express-router-2.2'), '/:a-:b')
    assert.throws(() => mountPath(long, {})(`/${'a'.repeat(5000)}-b`), RangeError)
    const told = mountPath(long, {})
    assert.throws(() => told(`/${'a'.repeat(5000)}-b`), RangeError)
    assert.equal(told('/a-b'), '/:a-:b', 'it learnt nothing from what it could not tell')
    assert.equal(told(`/${'a'.repeat(5000)}-b`), '/:a-:b')
  })
  it('of router 2.2 is probed with a token that no client can know', () => {
    // Of a token that is known this is a quarter of an hour of longer and longer ones.
    for (const known of ['spillway', 'spillway0']) {
      const value = known + '0'.repeat(2 ** 20)
      assert.equal(told('express-router-2.2', '/:a', `/${value}`), '/:a')
    }
  })
})

'use strict'
// A mount path of Express 4 is read back from the expression it was compiled to, as it was written.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const express = require('express-4')
const fc = require('fast-check')
const { mountPath } = require('../../src/core/route/express-4.js')

function layerOf(path) {
  const router = express.Router().use(path, () => {})
  return router.stack[0]
}

const WRITTEN = [
  '/users',
  '/CaseIs/Kept',
  '/:id',
  '/a/:b/c/:d',
  '/:from-:to',
  '/v:major.:minor',
  '/w:p',
  '/file.:ext',
  '/:id(\\d+)',
  '/:w([a-z]+)-:n(\\d{2,})',
  '/:lang?/x',
  '/many/:p*',
  '/some/:p+',
  '*',
  '/files/*',
  '/a/*/b',
  '/ab*cd',
  '/ab?cd',
  '/plu+s',
  '/alt/(one|two)',
  '/alt/(one|two)/:id',
  '/x-(\\d+)',
  '/[ab]/:x',
  '/:x(a|b)?/z',
  '/(in(ner))/:c',
]

describe('the path of an Express 4 mount', () => {
  for (const path of WRITTEN) {
    it(`${path} is read as it was written`, () => assert.equal(mountPath(layerOf(path)), path))
  }

  it('loses its trailing slash, and is empty for the root', () => {
    assert.equal(mountPath(layerOf('/users/')), '/users')
    assert.equal(mountPath(layerOf('')), '')
  })

  it('is the expression itself for an expression', () => {
    assert.equal(mountPath(layerOf(/^\/a|\/(b)/i)), '/^\\/a|\\/(b)/i')
  })

  it('of an array is the path that matched the URL', () => {
    const told = mountPath(layerOf(['/v1', ['/v2/:x(\\d+|[|])', /^\/re\/(\d+)|^\/alt/], '/par/:p']))
    const cases = {
      '/v1': '/v1',
      '/V2/7': '/v2/:x(\\d+|[|])',
      '/re/42': '/^\\/re\\/(\\d+)/',
      '/par/7': '/par/:p',
    }
    for (const [taken, path] of Object.entries(cases)) assert.equal(told(taken), path, taken)
    assert.equal(told('/alt'), '/^\\/alt/')
  })

  it('is read back as it was written', () => {
    const segment = fc.constantFrom(
      '/word',
      '/:p',
      '/:p?',
      '/:p(\\d+)',
      '/:p-:q',
      '/x.:p',
      '/*',
      '/(a|b)',
      '/:p*'
    )
    const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join(''))
    fc.assert(
      fc.property(path, path, (one, other) => {
        assert.equal(mountPath(layerOf(one)), one)
        const either = [`/first${one}`, `/second${other}`]
        assert.ok(either.includes(mountPath(layerOf(either))('/second/word')))
      })
    )
  })
})

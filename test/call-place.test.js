'use strict'
// The place of a call, read from the stacks that V8 writes.

const assert = require('node:assert/strict')
const { pathToFileURL } = require('node:url')
const { describe, it } = require('node:test')
const { CallPlace } = require('../src/call-place')
const { runAs } = require('./support/user-code')

const placeWith = (...frames) =>
  Object.assign(Object.create(CallPlace.prototype), { stack: ['Error', ...frames].join('\n') }).at

describe('the place of a call', () => {
  it('is the line that called, whatever lies between', () => {
    const inner = (callee) => new CallPlace(callee)
    function member() {
      return [1].map(() => inner(member))[0]
    }
    const { at } = runAs('shop.js', '\n\n  return member()', { member })
    assert.equal(at, 'shop.js:3:10')
  })

  for (const [what, frame, at] of [
    ['a function in CommonJS', '    at Object.<anonymous> (/srv/app.js:14:9)', '/srv/app.js:14:9'],
    ['a module of ESM', `    at ${pathToFileURL('/srv/my app.mjs')}:3:1`, '/srv/my app.mjs:3:1'],
    ['an async function', '    at async main (/srv/app.js:1:2)', '/srv/app.js:1:2'],
    ['an async module', `    at async ${pathToFileURL('/srv/app.mjs')}:1:2`, '/srv/app.mjs:1:2'],
    ['a method alias', '    at Foo.bar [as baz] (/srv/app.js:1:2)', '/srv/app.js:1:2'],
    ['a folder with parentheses', '    at new Foo (/srv/app (copy)/x.js:1:2)', '/srv/app (copy)/x.js:1:2'],
    ['Windows', '    at Object.<anonymous> (C:\\srv\\app.js:14:9)', 'C:\\srv\\app.js:14:9'],
    ['a URL that is no path', '    at file://%zz/app.mjs:1:2', 'file://%zz/app.mjs:1:2'],
  ]) {
    it(`is found in the frame of ${what}`, () => {
      assert.equal(placeWith(frame), at)
    })
  }

  it("passes over frames of Node's own, of natives and of eval", () => {
    const frames = [
      '    at Array.map (<anonymous>)',
      '    at Module._compile (node:internal/modules/cjs/loader:1554:14)',
      '    at eval (eval at <anonymous> (/srv/a.js:1:2), <anonymous>:1:1)',
      '    at /srv/app.js:1:2',
    ]
    assert.equal(placeWith(...frames), '/srv/app.js:1:2')
    assert.equal(placeWith(...frames.slice(0, -1)), undefined)
  })

  it('is unknown where a stack has no frames, or is none', () => {
    assert.equal(placeWith(), undefined)
    assert.equal(Object.assign(Object.create(CallPlace.prototype), { stack: [] }).at, undefined)
  })
})

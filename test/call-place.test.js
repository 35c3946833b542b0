'use strict'
// The place of a call, read from the stacks that V8 writes.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const { pathToFileURL } = require('node:url')
const { CallPlace } = require('../src/core/call-place')
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
    ['such a folder, and no function', '    at /srv/app (copy)/x.js:1:2', '/srv/app (copy)/x.js:1:2'],
    [
      'such a folder, and an async module',
      '    at async /srv/app (copy)/x.js:1:2',
      '/srv/app (copy)/x.js:1:2',
    ],
    ['a method with parentheses', '    at Foo.a (b) (/srv/(c)/x.js:1:2)', '/srv/(c)/x.js:1:2'],
    ['a script of node:vm', '    at run (my app (2).js:1:2)', 'my app (2).js:1:2'],
    ['an ESM module with a query', '    at f (file:///srv/a%20(1)/x.mjs?v=(2):1:2)', '/srv/a (1)/x.mjs:1:2'],
    ['an eval', '    at eval (eval at f (/srv/a (1)/x.js:3:5), <anonymous>:1:2)', '/srv/a (1)/x.js:3:5'],
    [
      'an eval without a name',
      '    at eval at f (/srv/a (1)/x.js:3:5), <anonymous>:1:2',
      '/srv/a (1)/x.js:3:5',
    ],
    [
      'an eval in an eval of an ESM module',
      '    at run (eval at f (eval at <anonymous> (file:///srv/a%20b.mjs:3:5)), <anonymous>:1:2)',
      '/srv/a b.mjs:3:5',
    ],
    [
      'an eval that names its source',
      '    at eval (webpack-internal:///./src/app (1).js:3:5)',
      'webpack-internal:///./src/app (1).js:3:5',
    ],
    ['Windows', '    at Object.<anonymous> (C:\\srv\\app.js:14:9)', 'C:\\srv\\app.js:14:9'],
    ['a URL that is no path', '    at file://%zz/app.mjs:1:2', 'file://%zz/app.mjs:1:2'],
  ]) {
    it(`is found in the frame of ${what}`, () => {
      assert.equal(placeWith(frame), at)
    })
  }

  it("passes over frames of Node's own, of natives, and of code that no file has", () => {
    const frames = [
      '    at Array.map (<anonymous>)',
      '    at Module._compile (node:internal/modules/cjs/loader:1554:14)',
      '    at evalmachine.<anonymous>:1:20',
      '    at eval (eval at <anonymous> (evalmachine.<anonymous>:1:1), <anonymous>:1:1)',
      '    at async Promise.all (index 0)',
      '    at /srv/app.js:1:2',
    ]
    assert.equal(placeWith(...frames), '/srv/app.js:1:2')
    assert.equal(placeWith(...frames.slice(0, -1)), undefined)
  })

  it('is right in the stacks that this Node writes, for files with spaces, parentheses and signs of a URL', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'a (1) b-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const body = [
      'function member() { return new CallPlace(member).at }',
      "const a = { 'b (c)': () => member() }",
      "at.push(member(), (() => member())(), a['b (c)'](), eval('(() => member())()'))",
      "at.push(new Function('member', 'return eval(`member()`)')(member))",
    ].join(';\n')
    globalThis.callPlaceTest = { CallPlace, at: [] }
    t.after(() => delete globalThis.callPlaceTest)
    for (const name of ['x (1).cjs', 'x %23#?(2).mjs']) {
      const file = join(folder, name)
      writeFileSync(file, `const { at, CallPlace } = callPlaceTest;${body}`)
      const { href } = pathToFileURL(file)
      await import(name.endsWith('.mjs') ? `${href}?v=(3) 4` : href)
      const { at } = globalThis.callPlaceTest
      const lines = at.splice(0).map((each) => each.replace(/:\d+$/, ''))
      assert.deepEqual(lines, [`${file}:3`, `${file}:3`, `${file}:2`, `${file}:3`, `${file}:4`])
    }
  })

  it('is unknown where a stack has no frames, or is none', () => {
    assert.equal(placeWith(), undefined)
    assert.equal(Object.assign(Object.create(CallPlace.prototype), { stack: [] }).at, undefined)
  })
})

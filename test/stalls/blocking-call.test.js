'use strict'
// The call that blocked, from a stack and the source: blocking-call.program.js has real ones.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { test } = require('node:test')
const { blockingCall } = require('../../src/features/stalls/blocking-call')

/** The call of a stack that was read at `HERE` in this source, whose function begins in its first line. */
function callOf(t, source, { isNative = true, above = [], below = [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-source-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const url = join(folder, 'app.js')
  const before = source.slice(0, source.indexOf('HERE')).split('\n')
  writeFileSync(url, source.replace('HERE', ''))
  const frame = {
    name: 'handler',
    url,
    line: before.length,
    column: before[before.length - 1].length,
    begin: 1,
  }
  const call = blockingCall([...above, frame, ...below], isNative)
  const [place] = call?.frames ?? []
  return call && [call.name, ...(place === undefined ? [] : [place.name, place.line])]
}
const ofV8 = (name) => ({ name, url: '', line: 0, column: 0, begin: 0 })
const ofNode = (name, url) => ({ name, url, line: 9, column: 2, begin: 4 })

test('the last call that ended before the place that was read', (t) => {
  for (const [source, call] of /** @type {[string, unknown][]} */ ([
    [
      'function handler() {\n const a = fs.readFileSync(f)\n HEREsend(a)\n}',
      ['fs.readFileSync', 'handler', 2],
    ],
    [
      '() => {\n const a = JSON.parse(fs.readFileSync(f, "utf8"))\n HEREsend(a)\n}',
      ['JSON.parse', 'handler', 2],
    ],
    ['() => {\n const a = one.sort()\n JSON.HEREstringify(a)\n}', ['Array.sort', 'handler', 2]],
    ['() => {\n res.HEREjson({\n  a: deflateSync(b)\n })\n}', ['deflateSync', 'handler', 3]],
    ['() => {\n // fs.readFileSync(f)\n /* JSON.parse(a) */\n HEREsend(a)\n}', undefined],
    ['() => {\n send(a); HEREsend(b); fs.readFileSync(f)\n}', undefined],
    ['async () => {\n fs.readFileSync(f)\n await b\n HEREsend(a)\n}', undefined],
    ['async () => {\n await b\n fs.readFileSync(f)\n HEREsend(a)\n}', ['fs.readFileSync', 'handler', 3]],
    ['async () => {\n await res.HEREjson(fs.readFileSync(f))\n}', ['fs.readFileSync', 'handler', 2]],
    [
      '() => {\n res.HEREjson(rateOf(1))\n}\nfunction rateOf(a) {\n return JSON.parse(b)\n}',
      ['JSON.parse', 'rateOf', 5],
    ],
    ['() => {\n HEREsend(rateOf(1))\n}\nconst rateOf = (a) => fs.statSync(a)', ['fs.statSync', 'rateOf', 4]],
    ['() => {\n HEREsend(rateOf(1))\n}\nasync function rateOf(a) {\n await a\n JSON.parse(b)\n}', undefined],
    [`() => {\n ${'a;'.repeat(20_000)} JSON.parse(b)\n HEREsend(a)\n}`, undefined],
  ]))
    assert.deepEqual(callOf(t, source), call, source)
})

test('a stack that was read in time has the call in its frames, and JavaScript has none', (t) => {
  const isNative = false
  const source = '() => {\n JSON.parse(a)\n HEREsend(a)\n}'
  assert.equal(callOf(t, source, { isNative }), undefined)
  assert.equal(callOf(t, source, { isNative, above: [ofV8('String.slice')] }), undefined)
  assert.deepEqual(callOf(t, source, { isNative, below: [ofV8('Array.sort')] }), ['Array.sort'])
  const cosine = { isNative, above: [ofV8('Math.cos')], below: [ofV8('Array.map')] }
  assert.deepEqual(callOf(t, source, cosine), ['Array.map'])
  assert.deepEqual(callOf(t, source, { isNative, above: [ofV8('JSON.stringify')] }), ['JSON.stringify'])
  const inside = [ofNode('processChunkSync', 'node:zlib'), ofNode('syncBufferWrapper', 'node:zlib')]
  assert.deepEqual(callOf(t, '() => {\n zlib.HEREgzipSync(a)\n}', { above: inside }), ['zlib.gzipSync'])
  const hashing = [ofNode('pbkdf2Sync', 'node:internal/crypto/pbkdf2')]
  assert.deepEqual(callOf(t, '() => {\n HEREhash(a)\n}', { above: hashing }), ['crypto.pbkdf2Sync'])
  assert.equal(blockingCall([ofNode('listOnTimeout', 'node:internal/timers')], true), undefined)
})

test('a regular expression is the one of the call, or a constant of the file, and never its input', (t) => {
  const found = { isNative: false, above: [ofV8('RegExp.test')] }
  const replaced = { isNative: false, above: [ofV8('String.replace')] }
  for (const [source, call, given] of /** @type {[string, string, typeof found][]} */ ([
    ['() => {\n /^(a+)+[/)]$/.HEREtest("secret")\n}', 'RegExp.test of /^(a+)+[/)]$/', found],
    ['() => {\n EMAIL.HEREtest(a)\n}\nconst EMAIL = /^(a+)+$/i', 'RegExp.test of /^(a+)+$/i', found],
    ['() => {\n EMAIL.HEREtest(a)\n}\nconst EMAIL = new RegExp(b)', 'RegExp.test', found],
    ['() => {\n a.HEREreplace(/(b|b)+/g, "")\n}', 'String.replace of /(b|b)+/g', replaced],
    ['() => {\n a.HEREreplace("secret", "")\n}', 'String.replace', replaced],
  ]))
    assert.deepEqual(callOf(t, source, given), [call], source)
})

test('an expression that was read late is named, unless another call was before it', (t) => {
  const above = [ofV8('RegExp.test')]
  assert.deepEqual(callOf(t, '() => {\n EMAIL.HEREtest(a)\n}', { above }), ['RegExp.test'])
  assert.deepEqual(callOf(t, '() => {\n JSON.parse(b)\n EMAIL.HEREtest(a)\n}', { above })?.[0], 'JSON.parse')
})

test('a method of an array that was read late is named', (t) => {
  for (const name of ['sort', 'map'])
    assert.deepEqual(callOf(t, `() => {\n rows.HERE${name}(each)\n}`, { above: [ofV8(`Array.${name}`)] }), [
      `Array.${name}`,
    ])
})

test('a parser of bodies hides its call, and a file that is gone tells nothing', () => {
  const frame = { name: '', url: '/srv/node_modules/body-parser/lib/gone.js', line: 3, column: 1, begin: 1 }
  assert.deepEqual(blockingCall([frame], true), { name: 'JSON.parse' })
  assert.equal(blockingCall([{ ...frame, url: '/srv/gone.js' }], true), undefined)
})

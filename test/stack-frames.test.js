'use strict'
// Which frame of a stack is shown.

const assert = require('node:assert/strict')
const { join, resolve } = require('node:path')
const { test } = require('node:test')
const { pathToFileURL } = require('node:url')
const { placeOf } = require('../src/core/stack-frames')

const frame = (name, path, line = 7) => ({
  name,
  url: path.startsWith('node:') ? path : pathToFileURL(resolve(path)).href,
  line,
  column: 0,
  begin: line - 2,
})
const OWN = frame('onTurn', join(__dirname, '../src/instance.js'))

test('the innermost function of the application, by its path from the working directory', () => {
  const place = placeOf([
    frame('pbkdf2Sync', 'node:internal/crypto/pbkdf2'),
    frame('hash', 'app/auth.js', 41),
    frame('login', 'app/routes.js'),
    OWN,
  ])
  assert.deepEqual(place, {
    function: 'hash',
    file: join('app', 'auth.js'),
    begin: 39,
    line: 41,
    package: null,
    frames: [
      'pbkdf2Sync (node:internal/crypto/pbkdf2:7)',
      `hash (${join('app', 'auth.js')}:41)`,
      `login (${join('app', 'routes.js')}:7)`,
    ],
  })
})

test('frames of an installed Spillway are left out, as source maps of a bundle have them', () => {
  const place = placeOf([
    frame('hash', 'app/auth.js', 41),
    frame('dispatch', 'node_modules/spillway/src/core/http/express.js'),
  ])
  assert.deepEqual(place?.frames, [`hash (${join('app', 'auth.js')}:41)`])
})

test('a package is named beside the function that called it, also a scoped one and one within another', () => {
  for (const [path, name] of [
    ['node_modules/slow/index.js', 'slow'],
    ['node_modules/@acme/slow/lib/a.js', '@acme/slow'],
    ['node_modules/outer/node_modules/inner/a.js', 'inner'],
  ]) {
    const place = placeOf([
      frame('work', path),
      frame('', 'app/routes.js'),
      frame('next', 'node_modules/express/a.js'),
    ])
    assert.equal(place?.function, '(anonymous)')
    assert.equal(place?.file, join('app', 'routes.js'))
    assert.equal(place?.package, name)
  }
})

test('a function of a package where none of the application is on the stack, and of Node where nothing else is', () => {
  const timer = frame('listOnTimeout', 'node:internal/timers')
  const place = placeOf([timer, frame('poll', 'node_modules/driver/a.js'), timer])
  assert.deepEqual([place?.function, place?.package], ['poll', 'driver'])
  assert.deepEqual(
    [placeOf([timer])?.function, placeOf([timer])?.file],
    ['listOnTimeout', 'node:internal/timers']
  )
})

test('a function of V8 has no file', () => {
  const ofV8 = { name: 'RegExp.test', url: '', line: 0, column: 0, begin: 0 }
  const place = placeOf([ofV8, frame('isEmail', 'app/mail.js', 4)])
  assert.equal(place?.function, 'isEmail')
  assert.deepEqual(place?.frames, ['RegExp.test (V8)', `isEmail (${join('app', 'mail.js')}:4)`])
})

test('Spillway itself is nowhere named', () => {
  assert.equal(placeOf([OWN, frame('processImmediate', 'node:internal/timers')]), undefined)
  assert.equal(placeOf([]), undefined)
})

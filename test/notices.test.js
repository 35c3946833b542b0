'use strict'
// A mistake is told once a process, kind, subject and place.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Notices } = require('../src/core/notices')

const listening = () => {
  const lines = []
  return { lines, notices: new Notices((fields, message) => lines.push([fields, message])) }
}

test('a notice says where, what, and what to write', () => {
  const { lines, notices } = listening()
  notices.warn('late-middleware', { at: '/srv/a.js:3:9' }, 'It is late. Move it.')
  assert.deepEqual(lines, [
    [
      { mistake: 'late-middleware', subject: undefined, at: '/srv/a.js:3:9' },
      'spillway: /srv/a.js:3: It is late. Move it.',
    ],
  ])
})

test('a notice is logged once, by however many instances, and again for another place, mistake or subject', () => {
  const first = listening()
  const second = listening()
  const at = '/srv/b.js:3:9'
  first.notices.warn('x', { at }, 'X.')
  first.notices.warn('x', { at }, 'X.')
  second.notices.warn('x', { at }, 'X.')
  second.notices.warn('x', { at: '/srv/b.js:4:9' }, 'X.')
  second.notices.warn('y', { at }, 'Y.')
  second.notices.warn('x', { at }, 'X.', '/metrics')
  assert.deepEqual([first.lines.length, second.lines.length], [1, 3])
})

test('a notice without a place is logged too, once', () => {
  const { lines, notices } = listening()
  notices.warn('nowhere', { at: undefined }, 'X.')
  notices.warn('nowhere', undefined, 'X.')
  assert.deepEqual(
    lines.map(([, message]) => message),
    ['spillway: X.']
  )
})

'use strict'
// What the documentation of express-session says. It delays the end of an answer until the session is kept.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const express = require('express')
const session = require('express-session')
const { ask, note, serve, steady } = require('./clients')

function app(t, handle, options) {
  const given = { secret: 'secret', resave: false, saveUninitialized: false, ...options }
  return serve(t, express().set('env', 'test').use(session(given)).use(handle).listen(0, '127.0.0.1'))
}

const cookieOf = ({ headers }) => headers['set-cookie']?.[0].split(';')[0]

test('a session is kept from request to request', async (t) => {
  const port = await app(t, (req, res) => {
    req.session.count = (req.session.count ?? 0) + 1
    res.send(String(req.session.count))
  })
  const first = await ask(port)
  const cookie = cookieOf(first)
  const { body, headers } = await ask(port, '/', { headers: { cookie } })
  assert.deepEqual([first.body, body, headers['set-cookie']], ['1', '2', undefined])
})

test('an unused session sets no cookie', async (t) => {
  const port = await app(t, (_req, res) => void res.send('none'))
  note(t, steady(await ask(port)))
})

/** A store that takes its time. */
class SlowStore extends session.MemoryStore {
  log = []
  set(id, given, done) {
    this.log.push('set')
    setTimeout(() => super.set(id, given, () => done(void this.log.push('kept'))), 10)
  }
}

test('the answer ends once the session is kept', async (t) => {
  const store = new SlowStore()
  const port = await app(
    t,
    (req, res) => {
      req.session.a = 1
      res.on('finish', () => store.log.push('finish'))
      res.write('a')
      res.end('b')
    },
    { store }
  )
  const { body } = await ask(port)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual([body, store.log], ['ab', ['set', 'kept', 'finish']])
})

test('regenerate and destroy', async (t) => {
  const port = await app(t, (req, res) => {
    if (req.url === '/new') return req.session.regenerate(() => res.send(typeof req.session.a))
    if (req.url === '/end') return req.session.destroy(() => res.send(typeof req.session))
    req.session.a = 1
    res.send('set')
  })
  const cookie = cookieOf(await ask(port))
  for (const path of ['/new', '/end', '/end']) note(t, (await ask(port, path, { headers: { cookie } })).body)
})

test('a cookie that was forged begins a new session', async (t) => {
  const port = await app(t, (req, res) => void res.send(String((req.session.n = (req.session.n ?? 0) + 1))))
  const cookie = `${cookieOf(await ask(port))}x`
  assert.equal((await ask(port, '/', { headers: { cookie } })).body, '1')
})

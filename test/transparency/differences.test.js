'use strict'
// How outcomes are compared, how suites run and where they come from: what npm run transparency stands on.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { mkdirSync, writeFileSync } = require('node:fs')
const { mkdtemp, rm } = require('node:fs/promises')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { describe, it, test } = require('node:test')
const { differences, parting } = require('./differences')
const { outcomesOf } = require('./outcomes')
const { REPOSITORIES, checkoutOf, obtain } = require('./repositories')

const run = (outcomes) =>
  new Map(Object.entries(outcomes).map(([name, [status, ...notes]]) => [name, { status, notes }]))
const namesOf = (without, given) => differences(without.map(run), given.map(run)).map(({ name }) => name)

describe('a difference', () => {
  it('is another end, another note, a test that is missing or new', () => {
    const without = { same: ['pass', 'a'], end: ['pass'], note: ['pass', 'a'], lost: ['pass'] }
    const given = { same: ['pass', 'a'], end: ['fail'], note: ['pass', 'b'], added: ['pass'] }
    assert.deepEqual(namesOf([without], [given]), ['end', 'note', 'lost', 'added'])
  })

  it('is found where one of several runs shows it', () => {
    assert.deepEqual(namesOf([{ a: ['pass'] }, { a: ['pass'] }], [{ a: ['pass'] }, { a: ['fail'] }]), ['a'])
  })

  it('is none where a run without spillway shows it too', () => {
    assert.deepEqual(namesOf([{ a: ['pass'] }, { a: ['fail'] }], [{ a: ['fail'] }, { a: ['pass'] }]), [])
  })

  it('is shown where it begins', () => {
    const outcome = (status, ...notes) => ({ status, notes })
    assert.deepEqual(parting({ without: outcome('pass', 'a', 'b'), given: outcome('pass', 'a', 'c') }), [
      'b',
      'c',
    ])
    assert.deepEqual(parting({ without: outcome('pass', 'a'), given: outcome('pass', 'a', 'c') }), [
      'no such note',
      'c',
    ])
    assert.deepEqual(parting({ without: outcome('pass'), given: { ...outcome('fail'), error: 'odd' } }), [
      'pass',
      'fail: odd',
    ])
  })
})

const FILE = `
  const http = require('node:http')
  const { once } = require('node:events')
  const { describe, it, test } = require('node:test')
  test('tells a header', async (t) => {
    const server = http.createServer((_req, res) => res.end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const res = await fetch('http://127.0.0.1:' + server.address().port)
    t.diagnostic('note ' + JSON.stringify(res.headers.get('x-broken')))
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections() })
  })
  describe('a group', () => {
    it('passes', () => {})
    it('fails', () => { throw new Error('odd') })
  })
`

async function folderFor(t) {
  const folder = await mkdtemp(join(tmpdir(), 'spillway-differences-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

test('a file runs plain, with spillway, and with what breaks it', async (t) => {
  const folder = await folderFor(t)
  const file = join(folder, 'suite.js')
  writeFileSync(file, FILE)
  const outcomes = (how) =>
    outcomesOf({ folder, files: [file] }, { node: process.execPath, modules: folder, ...how })
  const plain = await outcomes({})
  const attached = await outcomes({ way: 'attach' })
  const broken = await outcomes({ way: 'attach', env: { SPILLWAY_BREAK: 'header' } })
  assert.deepEqual([...plain.outcomes.keys()], ['tells a header', 'a group > passes', 'a group > fails'])
  assert.deepEqual(plain.outcomes.get('a group > fails'), { status: 'fail', error: 'odd', notes: [] })
  assert.deepEqual([attached.requests, attached.complaints], [1, []])
  assert.deepEqual(differences([plain.outcomes], [attached.outcomes]), [])
  const [found, ...others] = differences([plain.outcomes], [broken.outcomes])
  assert.deepEqual([found.name, parting(found), others], ['tells a header', ['null', '"1"'], []])
})

const REQUIRED_BY_PATH = `
  const { once } = require('node:events')
  const { test } = require('node:test')
  const express = require(${JSON.stringify(require.resolve('express'))})
  test('answers', async () => {
    const server = express().get('/', (_req, res) => res.end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    await fetch('http://127.0.0.1:' + server.address().port)
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections() })
  })
`

test('a framework gets its middleware where it is required by a path, as its own tests do', async (t) => {
  const folder = await folderFor(t)
  const file = join(folder, 'suite.js')
  writeFileSync(file, REQUIRED_BY_PATH)
  const how = { node: process.execPath, modules: folder, way: 'middleware' }
  const { outcomes, requests, complaints } = await outcomesOf({ folder, files: [file] }, how)
  assert.deepEqual([outcomes.get('answers')?.status, requests, complaints], ['pass', 1, []])
})

/** Stands in for Mocha: it gives the reporter that it is told of three tests, by Mocha's events. */
const LIKE_MOCHA = `
  const Reporter = require(process.argv[process.argv.indexOf('--reporter') + 1])
  const runner = new (require('node:events'))()
  new Reporter(runner)
  const titled = (...titles) => ({ titlePath: () => titles })
  runner.emit('pass', titled('a group', process.argv.slice(-2).join()))
  runner.emit('fail', titled('a group', 'fails'), new Error('odd'))
  runner.emit('pending', titled('waits'))
`

test('files of Mocha run together, and its reporter gives their outcomes', async (t) => {
  const folder = await folderFor(t)
  const bin = join(folder, 'node_modules', 'mocha', 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, '_mocha'), LIKE_MOCHA)
  const suite = { folder, files: ['test'], mocha: ['--check-leaks'] }
  const { outcomes } = await outcomesOf(suite, { node: process.execPath, modules: folder })
  assert.deepEqual(
    [...outcomes].map(([name, { status, error }]) => [name, status, error]),
    [
      ['a group > --check-leaks,test', 'pass', undefined],
      ['a group > fails', 'fail', 'odd'],
      ['waits', 'skip', undefined],
    ]
  )
})

test('a checkout at another commit is refused', async (t) => {
  const folder = await folderFor(t)
  const checkout = checkoutOf(folder, 'send')
  mkdirSync(checkout, { recursive: true })
  const git = (...args) => execFileSync('git', ['-C', checkout, ...args])
  git('init', '--quiet')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '--message=a')
  await assert.rejects(obtain(folder, 'send'), new RegExp(`Expected ${REPOSITORIES.send.commit}`))
})

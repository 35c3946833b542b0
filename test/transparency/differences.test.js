'use strict'
// How outcomes are compared, and that a real file with a difference is found: what npm run transparency stands on.

const assert = require('node:assert/strict')
const { writeFileSync } = require('node:fs')
const { mkdtemp, rm } = require('node:fs/promises')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { describe, it, test } = require('node:test')
const { differences, parting } = require('./differences')
const { outcomesOf } = require('./outcomes')

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

test('a file runs plain, with spillway, and with what breaks it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'spillway-differences-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'suite.js')
  writeFileSync(file, FILE)
  const outcomes = (how) => outcomesOf({ files: [file] }, { node: process.execPath, folder, ...how })
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

'use strict'
// Each synchronous call of Node or V8 that blocks a real server is named, with what to do instead.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { test } = require('node:test')
const { adviceForCall } = require('../../src/features/doctor/blocking-calls')
const { startProgram } = require('../support/program')

const FILE = join('test', 'stalls', 'blocking-server.js')

const LONG_MS = 180
/** On a fast machine a call may be too short to be told. */
const TRIES = 3
const FEWEST_TOLD = 10

/**
 * By route: the call, the function that made it, and what the advice names.
 *
 * @type {Record<string, [call: string, caller: string, advice: RegExp]>}
 */
const CALLS = {
  read: ['fs.readFileSync', 'read', /fs\.promises\.readFile/],
  within: ['JSON.parse', 'parseLarge', /worker thread/],
  argument: ['JSON.parse', 'parseLarge', /worker thread/],
  nested: ['JSON.parse', 'nested', /worker thread/],
  stringify: ['JSON.stringify', 'stringify', /paginate the result/],
  pbkdf2: ['crypto.pbkdf2Sync', 'pbkdf2', /crypto\.pbkdf2 with a callback/],
  scrypt: ['crypto.scryptSync', 'scrypt', /crypto\.scrypt with a callback/],
  random: ['crypto.randomBytes', 'random', /crypto\.randomBytes with a callback/],
  key: ['crypto.generateKeyPairSync', 'key', /crypto\.generateKeyPair with/],
  hash: ['Hash.update', 'hash', /as a stream/],
  gzip: ['zlib.gzipSync', 'gzip', /node:zlib without Sync/],
  child: ['spawnSync', 'child', /execFile or spawn/],
  clone: ['structuredClone', 'clone', /copy only what changes/],
  regexp: ['RegExp.test of /^([a-z]+)+$/', 'regexp', /repeated group/],
  replace: ['String.replace of /^([a-z]+)+$/', 'replace', /repeated group/],
  sort: ['Array.sort', 'sort|(anonymous)', /sort and paginate in the database/],
  map: ['Array.map', 'map|(anonymous)', /take the array in parts/],
}

/** @param {import('node:test').TestContext} t */
async function startBlocking(t) {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-blocking-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const args = [join(folder, 'large.txt')]
  const { child, next } = startProgram('', {
    t,
    file: join(__dirname, 'blocking-server.js'),
    args,
    hasChannel: true,
  })
  const port = await next('port')
  /**
   * A busy host, and a collection, make stalls of their own. In a short one, and on a busy host, the stack may
   * be read after the call, or late during it, and the call has no name. Each is tried again.
   */
  return async (name, init, isRight = ({ route }) => route === `/${name}`) => {
    let last
    for (let tries = 0; tries < TRIES; tries++) {
      const answer = await fetch(`http://127.0.0.1:${port}/${name}`, init)
      await answer.text()
      child.send('stalls')
      const stall = (await next('stalls')).find(
        ({ cause, durationMs, ...each }) =>
          ['javascript', 'native'].includes(cause) && durationMs > LONG_MS && isRight(each)
      )
      if (stall !== undefined && stall.call !== null) return stall
      last = stall ?? last
    }
    return last
  }
}

test('each synchronous call is named by the function that made it, and has its advice', async (t) => {
  const stallOf = await startBlocking(t)
  let told = 0
  for (const [name, [call, caller, advice]] of Object.entries(CALLS)) {
    const stall = await stallOf(name)
    if (stall === undefined) continue
    told++
    const what = `${name}: ${JSON.stringify(stall)}`
    assert.equal(stall.call, call, what)
    assert.ok(caller.split('|').includes(stall.function), what)
    assert.equal(stall.file, FILE, what)
    assert.match(String(adviceForCall(stall)), advice, what)
  }
  assert.ok(told >= FEWEST_TOLD, String(told))
  const awaited = await stallOf('awaited', undefined, ({ call }) => call === null)
  // On a busy host the stall may have another cause, as above.
  if (awaited !== undefined) assert.equal(adviceForCall(awaited), undefined)
})

test('a body that express.json() parses, and one that res.json() makes, have their size', async (t) => {
  const stallOf = await startBlocking(t)
  const body = JSON.stringify(Array.from({ length: 300_000 }, (_, i) => ({ i, name: `row ${i}` })))
  const headers = { 'content-type': 'application/json' }
  const isOf = (name) => (stall) => stall.call === name
  const parsed = await stallOf('body', { method: 'POST', headers, body }, isOf('JSON.parse'))
  if (parsed === undefined) return t.skip('this machine parses 10 MB too fast')
  assert.deepEqual([parsed.package, parsed.bodyBytes], ['body-parser', Buffer.byteLength(body)])
  const made = await stallOf('rows', undefined, isOf('JSON.stringify'))
  if (made === undefined) return t.skip('this machine writes 20 MB too fast')
  assert.deepEqual([made.package, made.route], ['express', '/rows'])
  assert.ok(made.bodyBytes > 1e7, String(made.bodyBytes))
})

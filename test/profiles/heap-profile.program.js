'use strict'
// Heap profiles and snapshots of a real server in a process of its own.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const zlib = require('node:zlib')
const { Profile } = require('pprof-format')
const { startProfiled } = require('./start-profiled')

const TOKEN = 'correct-horse-battery-staple'
const LINES = { headers: { accept: 'application/x-ndjson' } }

const resultOf = ({ body }) => JSON.parse(body.toString().trim().split('\n').at(-1)).result

test('what stays in memory and what grew is named, with the usual young generation too, and garbage is not', async (t) => {
  const { post, get, loading } = await startProfiled(t)
  const result = resultOf(await loading('/keep', () => post('/heap?seconds=2', LINES)))
  const [{ name, file, package: of, selfBytes }] = result.functions
  assert.match(name, /^(keepSome|\(anonymous\))$/)
  assert.deepEqual([file, of], ['test/profiles/profiled-server.js', null])
  assert.ok(selfBytes > 0 && result.aliveBytes >= selfBytes && result.samples > 0)
  assert.ok(result.functions.some((row) => row.name === 'keepHandler' && row.isHandler))
  const [grown] = result.growth
  assert.deepEqual([grown.name, grown.file], [name, file])
  assert.ok(grown.growthBytes > 0 && grown.growthBytes === grown.selfBytes - grown.beforeBytes)
  assert.ok(result.growthMs > 0 && result.growthMs < result.durationMs && result.readPauseMs > 0)
  assert.equal(typeof result.externalGrowthBytes, 'number')
  const { json } = await get('/heap/last.heapprofile')
  assert.ok(json.head.children.length > 0 && json.samples.length > 0)
  const pprof = Profile.decode(zlib.gunzipSync((await get('/heap/last.pb.gz')).body))
  assert.equal(pprof.stringTable.strings[Number(pprof.sampleType[0].type)], 'inuse_space')
})

test('a heap profile is the answer to a client that names no type', async (t) => {
  const { post } = await startProfiled(t)
  const { headers, json } = await post('/heap?seconds=1')
  assert.match(headers['content-disposition'], /\.heapprofile"$/)
  assert.equal(json.head.callFrame.functionName, '(root)')
})

test('a heap snapshot says what it costs, and is taken only when that is confirmed', async (t) => {
  const { post, get } = await startProfiled(t, { token: TOKEN })
  const cost = /^A heap snapshot blocks the event loop for up to \d+ s and may take [\d.]+ [kMG]B of memory/
  for (const path of ['/heap-snapshot', '/heap-snapshot?confirm=no', '/heap-snapshot?confirm=yesterday']) {
    const { status, body } = await post(path)
    assert.equal(status, 400)
    assert.match(body.toString(), cost)
  }
  assert.match((await get('/heap-snapshot?confirm=yes')).body.toString(), cost)
  const { status, headers, json } = await post('/heap-snapshot?confirm=yes')
  assert.equal(status, 200)
  assert.match(headers['content-disposition'], /^attachment; filename=".*\.heapsnapshot"$/)
  assert.ok(json.snapshot.node_count > 1000)
})

test('above half of the heap there is no snapshot', async (t) => {
  const keep = 'globalThis.kept = Array.from({ length: 60_000 }, (_, i) => ({ i, list: [i] }))'
  const args = ['--max-old-space-size=20', '--import', `data:text/javascript,${encodeURIComponent(keep)}`]
  const { post } = await startProfiled(t, { token: TOKEN, args })
  const { status, body } = await post('/heap-snapshot?confirm=yes')
  assert.equal(status, 503)
  assert.match(body.toString(), /^Memory is short/)
})

'use strict'
// Profiles of any worker of a real cluster, by name, from whichever member answers.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { createServer } = require('node:net')
const http = require('node:http')
const { join } = require('node:path')
const { after, before, test } = require('node:test')
const { afterRest } = require('../../bench/support/after-rest')
const { systemClock } = require('../../src/core/clock')
const { connectToMember } = require('../../src/features/fleet/members/member-pages')
const { startProfiledCluster } = require('../support/profiled-cluster')

const LINES = { accept: 'application/x-ndjson' }

let child
let folder
let members
let stop
before(async () => {
  ;({ child, folder, members, stop } = await startProfiledCluster())
})
after(() => stop())

/** Asks the admin server of a member. */
async function begin(name, method, path, headers = {}) {
  const port = members[name].adminPort
  let req
  const res = await afterRest(async () => {
    req = http.request({ host: '127.0.0.1', port, method, path, headers, agent: false })
    req.on('error', () => {})
    req.end()
    const [answer] = await once(req, 'response')
    return answer
  })
  res.on('error', () => {})
  return { req, res }
}

async function ask(...asked) {
  const { res } = await begin(...asked)
  const body = Buffer.concat(await res.toArray()).toString()
  return { status: res.statusCode, headers: res.headers, body }
}

/** Requests of a worker, until the work is done. */
async function loading(name, work) {
  let isDone = false
  const client = async () => {
    while (!isDone) await fetch(`http://127.0.0.1:${members[name].port}/`).then((answer) => answer.text())
  }
  const asking = client()
  try {
    return await work()
  } finally {
    isDone = true
    await asking
  }
}

/** Of the worker itself, whoever is asked for it. */
const refusalOf = async (name) => JSON.parse((await ask(name, 'GET', '/profile')).body).refusal

async function until(check) {
  while (!(await check())) await new Promise((resolve) => setImmediate(resolve))
}

for (const [asked, named, burns] of /** @type {const} */ ([
  ['1', '2', 'burnInSecond'],
  ['2', '1', 'burnInFirst'],
  ['primary', '1', 'burnInFirst'],
  ['1', '1', 'burnInFirst'],
]))
  test(`${asked} is asked for a profile of ${named}, and the function that burns there is the first`, async () => {
    const path = `/profile?seconds=1&worker=${named}`
    const { status, body } = await loading(named, () => ask(asked, 'POST', path, LINES))
    assert.equal(status, 200, body)
    const lines = body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.equal(lines[0].progress.totalMs, 1000)
    const { functions } = lines[lines.length - 1].result
    const [first] = functions.filter(({ package: of }) => of === null)
    // What burns may be inlined into its caller.
    assert.ok(['burn', burns].includes(first.name), first.name)
    assert.ok(functions.some(({ name }) => name === burns))
    const file = await ask(asked, 'GET', `/profile/last.cpuprofile?worker=${named}`)
    assert.equal(file.status, 200)
    assert.match(String(file.headers['content-disposition']), new RegExp(`spillway-${members[named].pid}-`))
    assert.ok(Array.isArray(JSON.parse(file.body).nodes))
  })

test('a heap profile and what a profile costs are of the worker that is named, compressed too', async () => {
  const heap = await ask('1', 'POST', '/heap?seconds=1&worker=2', { ...LINES })
  assert.equal(heap.status, 200)
  assert.match(heap.body, /"aliveBytes"/)
  assert.equal(JSON.parse((await ask('1', 'GET', '/heap?worker=2')).body).lastAt !== null, true)
  const zipped = await ask('1', 'POST', '/profile?seconds=1&worker=2', { 'accept-encoding': 'gzip' })
  assert.equal(zipped.headers['content-encoding'], 'gzip')
  assert.match(String(zipped.headers['content-security-policy']), /default-src 'none'/)
})

test('a name that no worker has is a 404 that says which there are', async () => {
  for (const name of ['3', '', '%00', '../1']) {
    const { status, body } = await ask('1', 'POST', `/profile?seconds=1&worker=${name}`)
    assert.deepEqual([status, body], [404, 'No worker has this name. There are: 1, 2, primary.\n'])
  }
})

test('a worker refuses for itself, and a client that disconnects ends the profile there', async () => {
  const { req } = await begin('1', 'POST', '/profile?seconds=60&worker=2', LINES)
  await until(async () => (await refusalOf('2')) !== null)
  const second = await ask('primary', 'POST', '/profile?seconds=1&worker=2')
  assert.deepEqual(
    [second.status, second.body],
    [409, 'Another profile is being taken. Wait until it has ended.\n']
  )
  assert.equal(await refusalOf('1'), null, 'the worker that passes it on is free')
  const bad = await ask('primary', 'POST', '/profile?seconds=0&worker=2')
  assert.equal(bad.status, 400)
  const snapshot = await ask('1', 'POST', '/heap-snapshot?confirm=yes&worker=2')
  assert.equal(snapshot.status, 403, 'without a token')
  req.destroy()
  await until(async () => (await refusalOf('2')) === null)
})

test('what is passed on is no call of the application', async () => {
  await ask('1', 'GET', '/profile?worker=2')
  child.send({ to: 1, order: 'calls' })
  const [{ calls }] = await once(child, 'message')
  assert.equal(calls, 0)
})

test('a worker that is of another version, or ends, fails the request and nothing else', async (t) => {
  const path = join(folder, 'old.s')
  const old = createServer((socket) => socket.once('data', () => socket.end('y')))
  old.listen(path)
  t.after(() => old.close())
  await once(old, 'listening')
  await assert.rejects(connectToMember(path, systemClock), /^Error: runs another version of Spillway$/)
  await assert.rejects(connectToMember(join(folder, 'none.s'), systemClock), /^Error: has ended$/)

  const { res } = await begin('1', 'POST', '/profile?seconds=60&worker=2', LINES)
  await once(res, 'data')
  child.send({ to: 2, order: 'exit' })
  await new Promise((resolve) => res.once('close', resolve))
  assert.equal(res.complete, false)
  assert.equal((await ask('1', 'GET', '/profile')).status, 200)
})

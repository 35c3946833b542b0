'use strict'
// The private directory: what others have put there before, what it is left behind by, and files that come
// and go.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const { Registry } = require('prom-client')
const { ReportBuffers } = require('../../src/features/fleet/reports/report-file')
const { pollMembers } = require('../../src/features/fleet/members/poll-members')
const { retireMembers } = require('../../src/features/fleet/members/retired-members')
const { openDirectory } = require('../../src/features/fleet/members/directory')
const { openMemberSocket } = require('../../src/features/fleet/members/member-socket')
const { identify, machine } = require('../../src/features/fleet/members/member-identity')
const { headOf } = require('../../src/features/fleet/reports/report')
const { temporaryDirectory } = require('../support/fleet')
const { oneValue, parse } = require('../support/metrics-text')
const { ask } = require('../support/sink')
const { spillwayFor } = require('../support/spillway')

const REPOSITORY = path.join(__dirname, '..', '..')
const NAME = { name: 'shop' }
const OWN = `spillway-${process.geteuid?.()}-shop-0`
const clock = { now: () => 0, wallMs: () => Date.now(), after: () => {}, afterTurn: setImmediate }

const REFUSED = {
  'a link to somewhere else': (own, base) =>
    fs.symlinkSync(fs.mkdirSync(path.join(base, 'x'), { recursive: true }), own),
  'a directory that others may enter': (own) => {
    fs.mkdirSync(own)
    fs.chmodSync(own, 0o755)
  },
  'a file': (own) => fs.writeFileSync(own, ''),
}

for (const [what, make] of Object.entries(REFUSED)) {
  test(`if ${what} is in place of the directory, a worker shows its own numbers and logs why, once`, async (t) => {
    const directory = temporaryDirectory(t)
    make(path.join(directory, OWN), directory)
    const lines = []
    const logger = { warn() {}, error: ({ err, place }) => lines.push([place, err.message]) }
    const spillway = spillwayFor(t, { logger, fleet: { ...NAME, directory } })
    for (let i = 0; i < 2; i++) {
      const families = parse(await ask(spillway.handler('metrics')).text())
      assert.equal(oneValue(families, 'spillway_workers', { state: 'live' }), 1)
    }
    assert.equal(lines.length, 1)
    assert.equal(lines[0][0], 'fleet')
    assert.match(
      lines[0][1],
      /^this worker shows its own numbers only: .+ is not a private directory of this user\. /
    )
  })
}

test('a directory that cannot be made, or whose path is too long for a socket, fails no scrape', async (t) => {
  const directory = temporaryDirectory(t)
  for (const bad of [path.join(directory, 'no', 'such'), path.join(directory, 'x'.repeat(90))]) {
    const spillway = spillwayFor(t, { fleet: { ...NAME, directory: bad } })
    parse(await ask(spillway.handler('metrics')).text())
    assert.equal(spillway.snapshot().internalErrors.fleet, 1)
    spillway.close()
  }
})

test('the directory and its files are private, and close() leaves only the report', async (t) => {
  const directory = temporaryDirectory(t)
  const spillway = spillwayFor(t, { fleet: { ...NAME, directory } })
  await spillway.fleetSnapshot()
  const own = path.join(directory, OWN)
  assert.equal(fs.statSync(own).mode & 0o777, 0o700)
  for (const name of fs.readdirSync(own).filter((each) => each.endsWith('.report')))
    assert.equal(fs.statSync(path.join(own, name)).mode & 0o777, 0o600)
  spillway.close()
  while (fs.readdirSync(own).length > 1) await new Promise((resolve) => setImmediate(resolve))
  assert.match(fs.readdirSync(own)[0], /\.report$/)
})

test('the directories of fleets whose primary has exited are removed, others are left', async (t) => {
  const base = temporaryDirectory(t)
  const uid = process.geteuid?.()
  // This process, as it would be named had its id been another's before.
  const [pid] = identify(process.pid).text.split('-')
  const names = {
    stale: `spillway-${uid}-${machine()}-${pid}-0-0`,
    open: `spillway-${uid}-${machine()}-${pid}-0-1`,
    alive: `spillway-${uid}-${machine()}-${identify(process.pid).text}-0`,
    elsewhere: `spillway-${uid}-ffffff-${pid}-0-0`,
    named: `spillway-${uid}-shop-0`,
  }
  for (const name of Object.values(names)) {
    fs.mkdirSync(path.join(base, name, 'in'), { recursive: true })
    fs.chmodSync(path.join(base, name), 0o700)
  }
  // Whoever else may enter it could make the removal of it that of something else.
  fs.chmodSync(path.join(base, names.open), 0o770)
  await openDirectory('other', base)
  const left = Object.keys(names).filter((key) => fs.existsSync(path.join(base, names[key], 'in')))
  assert.deepEqual(left, ['open', 'alive', 'elsewhere', 'named'])
})

const WITHOUT_DESCRIPTORS = `
  const { identify, isRunning } = require('./src/features/fleet/members/member-identity')
  const { openSync } = require('node:fs')
  const { text } = identify(process.pid)
  const answers = [isRunning(text)]
  try {
    for (;;) openSync('/dev/null')
  } catch {
    answers.push(isRunning(text))
  }
  process.stdout.write(answers.join())
`

test('a process without a free file descriptor does not take a running process for an exited one', {
  skip: process.platform === 'win32',
}, () => {
  const args = ['-c', 'ulimit -n 64; exec "$0" -e "$1"', process.execPath, WITHOUT_DESCRIPTORS]
  assert.equal(execFileSync('sh', args, { cwd: REPOSITORY, encoding: 'utf8' }), 'true,true')
})

const AS_ANOTHER_USER = `
  const { isRunning } = require('./src/features/fleet/members/member-identity')
  if (process.geteuid() === 0) process.setuid(65_534)
  process.stdout.write(String(isRunning('1-zzzzzz')))
`

test('a pid reused by a process of another user counts as exited', {
  skip: process.platform !== 'linux',
}, () => {
  const args = ['-e', AS_ANOTHER_USER]
  assert.equal(execFileSync(process.execPath, args, { cwd: REPOSITORY, encoding: 'utf8' }), 'false')
})

test('a report of another version, or half a report, is counted and not shown', async (t) => {
  const directory = temporaryDirectory(t)
  const spillway = spillwayFor(t, { fleet: { ...NAME, directory } })
  await spillway.fleetSnapshot()
  fs.writeFileSync(path.join(directory, OWN, 'aaaaaaaa.report'), 'SPILLWAY3 of which nothing is known')
  fs.writeFileSync(path.join(directory, OWN, 'bbbbbbbb.report'), headOf({ id: 'bbbbbbbb' }).subarray(0, 12))
  const families = parse(await ask(spillway.handler('metrics')).text())
  assert.equal(oneValue(families, 'spillway_workers', { state: 'unreadable' }), 2)
  assert.equal(oneValue(families, 'spillway_workers', { state: 'live' }), 1)
  assert.equal((await spillway.fleetSnapshot()).unreadable, 2)
})

test('a report cut short by a power failure is left out and fails no scrape', async (t) => {
  const directory = temporaryDirectory(t)
  const spillway = spillwayFor(t, { fleet: { ...NAME, directory } })
  await spillway.fleetSnapshot()
  const own = path.join(directory, OWN)
  const [report] = fs.readdirSync(own).filter((name) => name.endsWith('.report'))
  const bytes = fs.readFileSync(path.join(own, report))
  for (const length of [bytes.length - 1, bytes.length >> 1, bytes.length + 1]) {
    const half = Buffer.alloc(length)
    bytes.copy(half)
    for (const name of ['aaaaaaaa.report', 'departed-1']) fs.writeFileSync(path.join(own, name), half)
    const { workers, unreadable } = await spillway.fleetSnapshot()
    assert.deepEqual([workers.length, unreadable], [1, 1])
    const families = parse(await ask(spillway.handler('metrics')).text())
    assert.equal(oneValue(families, 'spillway_workers', { state: 'unreadable' }), 1)
  }
})

test('a worker that cannot make its report cuts off the scrape, and goes on', async (t) => {
  const registry = new Registry()
  const spillway = spillwayFor(t, { registry, fleet: { ...NAME, directory: temporaryDirectory(t) } })
  await spillway.fleetSnapshot()
  registry.setDefaultLabels({ build: Object.create(null) })
  await assert.rejects(spillway.fleetSnapshot(), TypeError)
  registry.setDefaultLabels({ build: 'a' })
  assert.equal((await spillway.fleetSnapshot()).workers.length, 1)
})

const goneSince = (id, ageMs) =>
  headOf({
    id,
    isFinal: true,
    process: '1-0',
    thread: 0,
    worker: '1',
    pid: 1,
    startedAt: 0,
    inFlight: 0,
    at: Date.now() - ageMs,
  })

const asked = () => ({ withRoutes: false, loan: new ReportBuffers().lend() })

test('a member whose report was removed by a cleaner of temporary files is still polled', async (t) => {
  const directory = await openDirectory('cleaned', temporaryDirectory(t))
  const report = (id) =>
    headOf({ id, process: identify(process.pid).text, thread: 0, startedAt: 0, at: Date.now() })
  const close = await openMemberSocket(directory.socketOf('b'), {
    report: () => directory.write('b', [report('b')]),
    servePages: (socket) => socket.destroy(),
  })
  t.after(close)
  const poll = () =>
    pollMembers(directory, { clock, ownId: 'a', ownReport: Promise.resolve(report('a')), ...asked() })
  const { members } = await poll()
  assert.deepEqual(
    members.map(({ id, state }) => [id, state]),
    [
      ['a', 'live'],
      ['b', 'live'],
    ]
  )
  // One that was killed before it had written anything.
  close()
  fs.rmSync(path.join(directory.path, 'b.report'))
  fs.writeFileSync(directory.socketOf('b'), '')
  assert.equal((await poll()).members.length, 1)
})

test('a member that could never write its report sends it over the socket, whatever its length', async (t) => {
  const directory = await openDirectory('full', temporaryDirectory(t))
  const report = (id, rest) =>
    headOf({ id, process: identify(process.pid).text, thread: 0, startedAt: 0, at: Date.now(), ...rest })
  const long = 'x'.repeat(2_000_000)
  t.after(
    await openMemberSocket(directory.socketOf('b'), {
      report: async () => [report('b', { long })],
      servePages: (socket) => socket.destroy(),
    })
  )
  const own = { clock, ownId: 'a', ownReport: Promise.resolve(report('a')), ...asked() }
  const { members } = await pollMembers(directory, own)
  assert.deepEqual(
    members.map(({ id, state, head }) => [id, state, head.long?.length]),
    [
      ['a', 'live', undefined],
      ['b', 'live', long.length],
    ]
  )
})

test('departed members are counted once, however many members retire them at the same time', async (t) => {
  const base = temporaryDirectory(t)
  const directory = await openDirectory('race', base)
  const ownReport = () =>
    Promise.resolve(headOf({ id: 'own', process: '', thread: 0, startedAt: 0, at: Date.now() }))
  let written = 0
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 3; i++) {
      const id = `gone${written++}`
      await directory.write(id, [goneSince(id, 120_000)])
    }
    const polls = await Promise.all(
      ['a', 'b', 'c'].map(async (id) => ({
        id,
        poll: await pollMembers(directory, { clock, ownId: id, ownReport: ownReport(), ...asked() }),
      }))
    )
    await Promise.all(polls.map(({ id, poll }) => retireMembers(directory, clock, poll, id)))
    const { members, retired } = await pollMembers(directory, {
      clock,
      ownId: 'own',
      ownReport: ownReport(),
      ...asked(),
    })
    const gone = members.filter(({ state }) => state === 'departed').length
    assert.equal(retired.head.count + gone, written)
  }
  const { ids, generations } = await directory.list()
  assert.ok(ids.length <= 3 && generations.length <= 2, `${ids} ${generations}`)
})

test('a member suspended while others retire members removes nothing and adds nothing', async (t) => {
  const directory = await openDirectory('sleep', temporaryDirectory(t))
  const poll = () =>
    pollMembers(directory, {
      clock,
      ownId: 'own',
      ownReport: Promise.resolve(headOf({ id: 'own', at: Date.now() })),
      ...asked(),
    })
  await directory.write('first', [goneSince('first', 120_000)])
  const slept = await poll()
  await retireMembers(directory, clock, await poll(), 'a')
  await directory.write('second', [goneSince('second', 120_000)])
  await retireMembers(directory, clock, await poll(), 'a')
  await retireMembers(directory, clock, slept, 'b')
  const { retired, members } = await poll()
  assert.equal(retired.head.count, 2)
  assert.equal(members.length, 1)
})

'use strict'
// Files in the directory of a fleet that are no reports: each costs its worker a state, and no scrape anything.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { test } = require('node:test')
const { blockOf, headOf, FAMILY, POINTS, ROUTES, EXEMPLARS } = require('../../src/fleet/report')
const { temporaryDirectory } = require('../support/fleet')
const { oneValue, parse } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { ask } = require('../support/sink')
const { ended, spillwayFor } = require('../support/spillway')
const { stillClock } = require('../support/still-clock')

const OWN = `spillway-${process.geteuid?.()}-shop-0`
const BAD = 'bad0'

const HEAD = {
  id: BAD,
  process: '1-0',
  pid: 1,
  thread: 0,
  startedAt: 1,
  worker: '1',
  isFinal: true,
  inFlight: 0,
  at: Date.now(),
}
const COUNTER = { name: 'jobs_total', type: 'counter', help: 'Jobs.', across: 'sum', isForeign: false }
const json = (value) => Buffer.from(JSON.stringify(value))
const family = (said) => blockOf(FAMILY, json({ ...COUNTER, ...said }))
const report = (...blocks) => Buffer.concat([headOf(HEAD), ...blocks])

/** The labels of a series and its numbers. */
function points(labels, ...numbers) {
  const text = Buffer.from(labels)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  return blockOf(POINTS, length, text, Buffer.from(Float64Array.from(numbers).buffer))
}

const withHead = (text) => {
  const whole = headOf({})
  whole.writeUInt32LE(Buffer.byteLength(text), 9)
  return Buffer.concat([whole.subarray(0, 13), Buffer.from(text)])
}

const CONTENTS = {
  'nothing at all': '',
  'another format': 'hello',
  'another version': 'SPILLWAY3 of which nothing is known',
  'a head cut off': headOf(HEAD).subarray(0, 20),
  'a head that is not JSON': withHead('{{{'),
  'a head that is null': withHead('null'),
  'a head that is a list': withHead('[1]'),
  'a head of another worker': headOf({ ...HEAD, id: 'other' }),
  'a head with the path of another file': headOf({ ...HEAD, id: '../other' }),
  'a head without a process': headOf({ ...HEAD, process: undefined }),
  'a head with a time that is a text': headOf({ ...HEAD, at: 'now' }),
  'a report cut off': report(family(), points('', 1)).subarray(0, -3),
  'a metric that is not JSON': report(blockOf(FAMILY, Buffer.from('zz'))),
  'a metric that is null': report(blockOf(FAMILY, Buffer.from('null'))),
  'a metric with a line in its name': report(family({ name: 'evil 1\nx' })),
  'a metric with a line in its help': report(family({ help: 'x\nevil 1' })),
  'a histogram without bounds': report(family({ type: 'histogram' }), points('', 1, 1)),
  'a histogram whose bounds do not rise': report(
    family({ type: 'histogram', bounds: [1, 1] }),
    points('', 1, 1, 1, 1)
  ),
  'a histogram with other numbers than bounds': report(
    family({ type: 'histogram', bounds: [1, 2] }),
    points('', 1, 1)
  ),
  'an exemplar of no bucket': report(
    family({ type: 'histogram', bounds: [1] }),
    points('', 1, 1, 1),
    blockOf(EXEMPLARS, json([[0, 2, 'a', 'b', 1, 1]]))
  ),
  'points of another shape': report(family(), blockOf(POINTS, Buffer.alloc(2))),
  'points with fewer numbers than series': report(family(), points('{a="1"}\n{a="2"}', 1)),
  'labels that are none': report(family(), points('evil 1', 1)),
  'labels that are no JSON where they are another registry': report(
    family({ isForeign: true }),
    points('{', 1)
  ),
  'an exemplar of no point': report(
    family(),
    points('', 1),
    blockOf(EXEMPLARS, json([[7, 0, 'a', 'b', 1, 1]]))
  ),
  'an exemplar before all points': report(family(), blockOf(EXEMPLARS, json([[0, 0, 'a', 'b', 1, 1]]))),
}

/** What else may be under the name of a report. */
const THINGS = {
  'a pipe': (file) => execFileSync('mkfifo', [file]),
  'a directory': (file) => fs.mkdirSync(file),
  'a link that leads to itself': (file) => fs.symlinkSync(path.basename(file), file),
  'a link to another file': (file) => fs.symlinkSync('/etc/passwd', file),
  'a file of a hundred gigabytes': (file) => {
    fs.writeFileSync(file, headOf(HEAD))
    fs.truncateSync(file, 1e11)
  },
  'a socket': (file, t) => {
    const server = net.createServer().listen(file)
    t.after(() => server.close())
    return once(server, 'listening')
  },
  'a file nobody may read': (file) => fs.writeFileSync(file, report(), { mode: 0 }),
}

const WAYS = {
  ...Object.fromEntries(
    Object.entries(CONTENTS).map(([what, bytes]) => [what, (file) => fs.writeFileSync(file, bytes)])
  ),
  ...THINGS,
}

async function fleetOfOne(t) {
  const directory = temporaryDirectory(t)
  const lines = []
  const logger = { info() {}, warn: (fields, message) => lines.push({ ...fields, message }), error: () => {} }
  const clock = stillClock()
  const spillway = spillwayFor(t, { logger, fleet: { name: 'shop', directory } }, clock)
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  await get('/')
  await ended(spillway, 1)
  await spillway.fleetSnapshot()
  // Anew each time.
  const scrape = async () => {
    clock.advance(1000)
    return parse(await ask(spillway.handler('metrics')).text())
  }
  return { spillway, scrape, lines, own: path.join(directory, OWN) }
}

const skipped = {
  'a file nobody may read': process.geteuid?.() === 0,
  'a pipe': process.platform === 'win32',
  'a socket': process.platform === 'win32',
}

for (const [what, put] of Object.entries(WAYS)) {
  test(`${what} as a report is counted as unreadable, logged once, and cuts no scrape`, {
    skip: skipped[what] === true,
  }, async (t) => {
    const { spillway, scrape, lines, own } = await fleetOfOne(t)
    await put(path.join(own, `${BAD}.report`), t)
    // A pipe would take a thread of Node's pool each time, of which there are four.
    for (let i = 0; i < 6; i++) {
      const families = await scrape()
      assert.equal(oneValue(families, 'spillway_workers', { state: 'unreadable' }), 1)
      assert.equal(oneValue(families, 'spillway_workers', { state: 'live' }), 1)
      assert.equal(oneValue(families, 'spillway_requests_total', { outcome: 'completed' }), 1)
      assert.equal(families.has('evil'), false)
    }
    const { unreadable, requests } = await spillway.fleetSnapshot()
    assert.deepEqual([unreadable, requests.sinceStart.count], [1, 1])
    assert.deepEqual(
      lines.map(({ report: id, message }) => [id, message]),
      [[BAD, 'spillway: a report of the fleet cannot be read and is left out']]
    )
    assert.ok(lines[0].err instanceof Error)
  })
}

test('invalid routes do not fail a snapshot', async (t) => {
  const { spillway, scrape, own } = await fleetOfOne(t)
  for (const body of [Buffer.from([1]), Buffer.from([2, 123, 125]), Buffer.from([2, 91, 93, 1, 1])]) {
    fs.writeFileSync(path.join(own, `${BAD}.report`), report(blockOf(ROUTES, body)))
    const { unreadable, requests } = await spillway.fleetSnapshot()
    assert.deepEqual([unreadable, requests.sinceStart.count], [1, 1])
    await scrape()
  }
})

for (const what of ['a pipe', 'a directory', 'a file of a hundred gigabytes']) {
  test(`${what} as the report of retired members neither hangs nor cuts a scrape, and is logged once`, {
    skip: skipped[what] === true,
  }, async (t) => {
    const { scrape, lines, own } = await fleetOfOne(t)
    await THINGS[what](path.join(own, 'departed-1'), t)
    for (let i = 0; i < 6; i++)
      assert.equal(oneValue(await scrape(), 'spillway_workers', { state: 'live' }), 1)
    assert.deepEqual(
      lines.map(({ report: id }) => id),
      ['departed']
    )
  })
}

for (const number of ['01', '007', '9007199254740993', '12345678901234567890123']) {
  test(`a file 'departed-${number}' with another spelling of a number cuts no scrape and hides no generation`, async (t) => {
    const { spillway, scrape, own } = await fleetOfOne(t)
    const before = Buffer.concat([
      headOf({ isDeparted: true, ids: [BAD], count: 1 }),
      ...[family(), points('', 7)],
    ])
    fs.writeFileSync(path.join(own, 'departed-5'), before)
    fs.writeFileSync(path.join(own, `departed-${number}`), 'hello')
    for (let i = 0; i < 3; i++) {
      const families = await scrape()
      assert.equal(oneValue(families, 'spillway_workers', { state: 'live' }), 1)
      assert.equal(oneValue(families, 'spillway_requests_total', { outcome: 'completed' }), 1)
      assert.equal(oneValue(families, 'jobs_total', {}), 7)
    }
    assert.equal((await spillway.fleetSnapshot()).requests.sinceStart.count, 1)
  })
}

test('the name of a worker is made safe for a label', async (t) => {
  const { scrape, own } = await fleetOfOne(t)
  const hostile = {
    ...HEAD,
    worker: '1"}\nevil 1\n{a="',
    isFinal: false,
    process: `${process.pid.toString(36)}-`,
  }
  const gauge = { name: 'size', type: 'gauge', help: 'Size.', across: 'worker', isForeign: false }
  fs.writeFileSync(
    path.join(own, `${BAD}.report`),
    Buffer.concat([headOf(hostile), blockOf(FAMILY, json(gauge)), points('', 7)])
  )
  const families = await scrape()
  assert.equal(families.has('evil'), false)
  assert.deepEqual(
    families.get('size').samples.map(({ labels }) => labels.worker),
    ['1___evil_1__a__']
  )
})

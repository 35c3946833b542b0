'use strict'
// Files in the directory of a fleet that are no reports: each costs its worker a state, and no scrape
// anything.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { test } = require('node:test')
const {
  blockOf,
  headOf,
  FAMILY,
  POINTS,
  ROUTES,
  EXEMPLARS,
} = require('../../src/features/fleet/reports/report')
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
/** Of a worker that runs, whose gauges are shown, and does not answer. */
const SILENT = { ...HEAD, isFinal: false, process: `${process.pid.toString(36)}-` }
const silent = (...blocks) => Buffer.concat([headOf(SILENT), ...blocks])

/** The labels of a series and its numbers. */
function points(labels, ...numbers) {
  const text = Buffer.from(labels)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  return blockOf(POINTS, length, text, Buffer.from(Float64Array.from(numbers).buffer))
}

/** Of a metric of another registry, each series with its name. @param {string} type @param {any[]} series */
function registryPoints(type, series, ...numbers) {
  const text = series.map((each) => JSON.stringify(each)).join('\n')
  return silent(family({ name: 'lat', type, isForeign: true }), points(text, ...numbers))
}

/** A route with these numbers: its totals, its only span of time, and what that has of a histogram. */
function routes({
  key = '["GET","/a"]',
  totals = [],
  since = [1, 0, 1],
  histogram = [1, 1, 0, 1],
  times = 1,
}) {
  const doubles = Float64Array.from([...Object.assign(new Array(32).fill(0), totals), ...since])
  const bytes = Buffer.from(doubles.buffer)
  const name = Buffer.from(key)
  const route = [[name.length], name, bytes.subarray(0, 256), [1], bytes.subarray(256), histogram].map(
    (each) => Buffer.from(each)
  )
  return report(blockOf(ROUTES, Buffer.concat(new Array(times).fill(route).flat())))
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
  'a head without a time': headOf({ ...HEAD, at: undefined }),
  'a head without the time of its start': headOf({ ...HEAD, startedAt: undefined }),
  'a head with a time that is a text': headOf({ ...HEAD, at: 'now' }),
  'a head with a time that no date has': headOf({ ...HEAD, at: 1e300 }),
  'a head with a worker that is no text': headOf({ ...HEAD, worker: { toString: 1, valueOf: 1 } }),
  'a head with fewer than no requests in flight': headOf({ ...HEAD, inFlight: -1 }),
  'a report cut off': report(family(), points('', 1)).subarray(0, -3),
  'a metric that is not JSON': report(blockOf(FAMILY, Buffer.from('zz'))),
  'a metric that is null': report(blockOf(FAMILY, Buffer.from('null'))),
  'a metric with a line in its name': report(family({ name: 'evil 1\nx' })),
  'a metric with a line in its help': report(family({ help: 'x\nevil 1' })),
  'a metric of no known type': report(family({ type: 'unknown' }), points('', 1)),
  'a metric whose type is a property of all objects': report(family({ type: 'constructor' }), points('', 1)),
  'a metric of a registry of no known type': report(family({ type: 'info', isForeign: true })),
  'a metric that is joined in no known way': report(family({ across: '__proto__' }), points('', 1)),
  'a metric that says of no kind whose it is': report(family({ isForeign: null }), points('', 1)),
  'a metric whose name has a space': report(family({ name: 'jobs done_total' }), points('', 1)),
  'a metric whose name is no ASCII': report(family({ name: 'größe_total' }), points('', 1)),
  'a metric whose name is a number': report(family({ name: 7, type: 'gauge' }), points('', 1)),
  'a metric with a very long name': report(family({ name: `${'x'.repeat(600)}_total` }), points('', 1)),
  'a counter that OpenMetrics has no name for': report(family({ name: 'jobs' }), points('', 1)),
  'a help whose characters have a line end in them': report(family({ help: 'x\u010aevil 1' })),
  'a help that escapes': report(family({ help: 'C:\\x' })),
  'a name of ours with another type': report(
    family({ name: 'spillway_requests_total', type: 'summary' }),
    points('', 1, 1)
  ),
  'a name of ours that a process need not show, with another type': report(
    family({ name: 'nodejs_eventloop_lag_seconds', type: 'histogram', bounds: [1] }),
    points('', 1, 1, 1)
  ),
  'a counter below 0': report(family(), points('', -1)),
  'a counter that is not a number': report(family(), points('', Number.NaN)),
  'a counter without end': report(family(), points('', Number.POSITIVE_INFINITY)),
  'a half in a bucket': report(family({ type: 'histogram', bounds: [1] }), points('', 0.5, 1, 1)),
  'a bucket below 0': report(family({ type: 'histogram', bounds: [1] }), points('', 1, -1, 1)),
  'a count of a summary without end': report(
    family({ type: 'summary' }),
    points('', Number.POSITIVE_INFINITY, 1)
  ),
  'a native histogram with a count that is none': report(
    family({ type: 'native histogram' }),
    points('', ...new Array(209).fill(1), Number.NaN)
  ),
  'a bound that is no number': report(
    family({ type: 'histogram', bounds: [1, '2'] }),
    points('', 1, 1, 1, 1)
  ),
  'bounds that fall': report(family({ type: 'histogram', bounds: [2, 1] }), points('', 1, 1, 1, 1)),
  'a label twice': report(family(), points('{a="1",a="2"}', 1)),
  'a label that Prometheus keeps for itself': report(family(), points('{__name__="evil"}', 1)),
  'a label that is the prototype': report(family(), points('{__proto__="1"}', 1)),
  'a label with a dash': report(family(), points('{a-b="1"}', 1)),
  'a label behind the last': report(family(), points('{a="1"},b="2"}', 1)),
  'a label that is not UTF-8': report(family(), points('{a="\u00ff"}', 1)),
  'a label whose characters have a line end in them': report(family(), points('{a="\u010aevil 1"}', 1)),
  'the bound of a bucket among the labels': report(
    family({ type: 'histogram', bounds: [1] }),
    points('{le="5"}', 1, 1, 1)
  ),
  'a series twice': report(family(), points('{a="1"}\n{a="1"}', 1, 1)),
  'a series twice, in two blocks': report(family(), points('{a="1"}', 1), points('{a="1"}', 1)),
  'a series twice, its labels in another order': report(
    family(),
    points('{a="1",b="2"}\n{b="2",a="1"}', 1, 1)
  ),
  'a label for the worker that would be there twice': silent(
    family({ name: 'size', type: 'gauge', across: 'worker' }),
    points('{worker="1",spillway_worker="2"}', 1)
  ),
  'a series of a registry twice, spelled in two ways': report(
    family({ isForeign: true }),
    points('["jobs_total",[]]\n["jobs_total", []]', 1, 1)
  ),
  'a series of a registry with a label twice': registryPoints(
    'gauge',
    [
      [
        'lat',
        [
          ['a', '1'],
          ['a', '2'],
        ],
      ],
    ],
    1
  ),
  'a series of a registry with a label that is no text': registryPoints('gauge', [['lat', [['a', 1]]]], 1),
  'a series of a registry with half a character': registryPoints('gauge', [['lat', [['a', '\ud800']]]], 1),
  'a series of a registry with a label that is the prototype': registryPoints(
    'gauge',
    [['lat', [['__proto__', '1']]]],
    1
  ),
  'a series of a registry with the name of another metric': registryPoints('gauge', [['evil', []]], 1),
  'a bucket of a registry without a bound': registryPoints('histogram', [['lat_bucket', []]], 1),
  'a bound of a registry spelled in another way': registryPoints(
    'histogram',
    [['lat_bucket', [['le', '1.0']]]],
    1
  ),
  'a counter of a registry below 0': registryPoints('counter', [['lat', []]], -1),
  'a count of a registry that is not a number': registryPoints('histogram', [['lat_count', []]], Number.NaN),
  'an exemplar with more than OpenMetrics takes': report(
    family({ type: 'histogram', bounds: [1] }),
    points('', 1, 1, 1),
    blockOf(EXEMPLARS, json([[0, 0, 'a'.repeat(120), 'b', 1, 1]]))
  ),
  'an exemplar with a value that is a text': report(
    family({ type: 'histogram', bounds: [1] }),
    points('', 1, 1, 1),
    blockOf(EXEMPLARS, json([[0, 0, 'a', 'b', 1, '1 evil']]))
  ),
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

/** A pipe would take a thread of Node's pool each time, of which there are four. */
const SCRAPES = 6

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
    for (let i = 0; i < (what in THINGS ? SCRAPES : 2); i++) {
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

/** As the first byte of a number that never ends, or is larger than any count. */
const ENDLESS = new Array(200).fill(0x80)
const HUGE = [...new Array(200).fill(0xff), 1]

for (const [what, bytes] of Object.entries({
  'one byte': report(blockOf(ROUTES, Buffer.from([1]))),
  'a name that is an object': report(blockOf(ROUTES, Buffer.from([2, 123, 125]))),
  'a name alone': report(blockOf(ROUTES, Buffer.from([2, 91, 93, 1, 1]))),
  'a name spelled in another way': routes({ key: '["GET", "/a"]' }),
  'a route twice': routes({ times: 2 }),
  'a count below 0': routes({ totals: [-1] }),
  'a count that is not a number': routes({ totals: [Number.NaN] }),
  'a span without end': routes({ since: [Number.POSITIVE_INFINITY, 0, 1] }),
  'a span that began never': routes({ since: [1, 0, Number.NaN] }),
  'a slot with more than can be counted': routes({ histogram: [1, ...HUGE, 0, 1] }),
  'a slot further than any': routes({ histogram: [...HUGE, 1, 0, 1] }),
  'a number of zeros without end': routes({ histogram: [1, ...ENDLESS] }),
  'a highest value that has no slot': routes({ histogram: [1, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 1] }),
})) {
  test(`routes with ${what} spoil no snapshot, and no sum of what the departed have left`, async (t) => {
    const { spillway, scrape, own } = await fleetOfOne(t)
    fs.writeFileSync(path.join(own, `${BAD}.report`), bytes)
    const { unreadable, requests } = await spillway.fleetSnapshot()
    assert.deepEqual([unreadable, requests.sinceStart.count], [1, 1])
    await scrape()
  })
}

test('routes as they should be are read', async (t) => {
  const { spillway, own } = await fleetOfOne(t)
  fs.writeFileSync(
    path.join(own, `${BAD}.report`),
    routes({ totals: Object.assign([], { 12: 5, 18: 6, 19: 9, 20: 7, 21: 8 }) })
  )
  const { unreadable, routes: shown } = await spillway.fleetSnapshot()
  assert.equal(unreadable, 0)
  const { gaveUp, sinceStart, parts, loopMs } = shown.find(({ route }) => route === '/a') ?? {}
  assert.equal(sinceStart?.count, 1)
  assert.deepEqual(
    [parts?.sinceStart.queueMs, parts?.sinceStart.unreadMs, parts?.sinceStart.proxyMs],
    [5, 6, 9]
  )
  assert.deepEqual([loopMs?.sinceStart, gaveUp?.sinceStart], [7, 8])
})

const FORMATS = {
  text: undefined,
  OpenMetrics: 'application/openmetrics-text;version=1.0.0',
  protobuf: 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited',
}

/** Metrics that are well-formed, and may not stand beside others: the name of the family, and all it says. */
const TAKEN = {
  'a series of a histogram of ours': { name: 'http_server_request_duration_seconds_count', type: 'gauge' },
  'a counter of ours in OpenMetrics': { name: 'spillway_requests', type: 'gauge' },
  'a metric that a fleet shows by itself': { name: 'spillway_workers', type: 'gauge' },
  'a metric of ours, and is of a registry': { name: 'spillway_queue_length', type: 'gauge', isForeign: true },
}

for (const [what, said] of Object.entries(TAKEN)) {
  test(`a metric with the name of ${what} is left out, and told`, async (t) => {
    const { spillway, scrape, own } = await fleetOfOne(t)
    const before = (await scrape()).get(said.name)
    const label = said.isForeign ? JSON.stringify([said.name, [['evil', '1']]]) : '{evil="1"}'
    fs.writeFileSync(
      path.join(own, `${BAD}.report`),
      silent(family({ across: 'max', ...said }), points(label, 7))
    )
    for (const accept of Object.values(FORMATS)) {
      const sink = ask(spillway.handler('metrics'), { accept })
      assert.equal((await sink.text()).includes('evil'), false)
    }
    const families = await scrape()
    assert.deepEqual([...families.keys()].filter((name) => name === said.name).length, before ? 1 : 0)
    assert.ok(oneValue(families, 'spillway_internal_errors_total', { place: 'fleet' }) > 0)
  })
}

test('series of two workers that differ in the order of their labels are one', async (t) => {
  const { scrape, own } = await fleetOfOne(t)
  const write = (id, labels) =>
    fs.writeFileSync(
      path.join(own, `${id}.report`),
      Buffer.concat([headOf({ ...HEAD, id }), family(), points(labels, 2)])
    )
  write('bad0', '{a="x,b=",b="}"}')
  write('bad1', '{b="}",a="x,b="}')
  const { samples } = (await scrape()).get('jobs_total')
  assert.deepEqual(samples, [{ name: 'jobs_total', labels: { a: 'x,b=', b: '}' }, value: 4 }])
})

for (const what of ['a pipe', 'a directory', 'a file of a hundred gigabytes']) {
  test(`${what} as the report of retired members neither hangs nor cuts a scrape, and is logged once`, {
    skip: skipped[what] === true,
  }, async (t) => {
    const { scrape, lines, own } = await fleetOfOne(t)
    await THINGS[what](path.join(own, 'departed-1'), t)
    for (let i = 0; i < SCRAPES; i++)
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
  const hostile = { ...SILENT, worker: '1"}\nevil 1\n{a="' }
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

'use strict'
// A report as a document: what it may load, what it takes for text, how large it is, and what its tables say
// that they are about.

const assert = require('node:assert/strict')
const { createHash } = require('node:crypto')
const { before, describe, test } = require('node:test')
const fc = require('fast-check')
const { makeCurves: drawCurves } = require('../../src/features/admin/report/curve')
const { loadStyle, makeDocument, readRun } = require('../../src/features/admin/report/document')
const { latenciesBetween } = require('../../src/features/admin/report/run-requests')
const { html } = require('../../src/features/admin/report/markup')
const { makeRun } = require('../../src/features/admin/report/run')
const { makeCurves } = require('../../src/features/admin/report/run-curves')
const { Sightings } = require('../../src/features/admin/report/sightings')
const { Times, isZone, reportName } = require('../../src/features/admin/report/times')
const { Rested } = require('../../src/features/admin/report-pages')
const { PauseRest } = require('../../src/features/profiles/pause-rest')
const { diagnosisOf, routeOf, snapshotOf, socketsOf, summaryOf } = require('../cli/admin-stand-in')
const { eventOf, holderOf, poolOf } = require('./report-services')
const { makeReport } = require('../../src/cli/report/report-file')
const { FakeClock } = require('../support/fake-clock')

const AT = Date.UTC(2026, 10, 26, 14, 0, 0)
const MAX_BYTES = 200_000
let css
before(async () => {
  css = await loadStyle()
})

const pointAt = (at, more) => ({
  at,
  requests: 100,
  errors: 1,
  shed: 0,
  p50: 2,
  p99: 20,
  inFlight: 3,
  limit: null,
  queued: 0,
  loopDelayP99: 12,
  utilization: 0.5,
  stallMs: 0,
  heapAfterGc: 2e7,
  heapUsed: 3e7,
  rss: 1e8,
  ...more,
})
const pointsOf = (count, more = (_i) => ({})) =>
  Array.from({ length: count }, (_, i) => pointAt(AT + (i + 1) * 1000, more(i)))

const PARTS = { queueMs: 1, runMs: 2, loopBusyMs: 3, gcMs: 0, waitMs: 4, bodyMs: 0, unreadMs: 0 }
const finding = (more) => ({
  problem: 'errors',
  severity: 'high',
  share: 0.5,
  route: 'GET /pay',
  summary: 'GET /pay fails.',
  evidence: [{ name: 'failed', value: 0.5, unit: 'share of the requests' }],
  advice: 'Look at `the log`.',
  effectOf: null,
  more: 'docs/insight.md',
  ...more,
})

/** The counters at a second of the run, with so many requests by route. */
function totalsAt(second, counts, more) {
  const at = AT + second * 1000
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const routes = Object.entries(counts).map(([route, count]) =>
    routeOf(route, count, {
      shed: count / 10,
      parts: { sinceStart: PARTS, lastMinute: PARTS },
      outcomes: { completed: count - count / 4, errored: count / 4, aborted: 0, upgraded: 0, timed_out: 0 },
    })
  )
  return {
    at,
    process: {
      service: 's',
      pid: 1,
      host: 'h',
      node: 'v20',
      platform: 'Linux',
      cpus: 2,
      cpuModel: 'c',
      memoryBytes: 1e9,
      spillway: '1',
    },
    snapshot: snapshotOf({
      at: new Date(at).toISOString(),
      uptimeSeconds: 3600 + second,
      routes,
      requests: { inFlight: 0, lastMinute: summaryOf(all / 2), sinceStart: summaryOf(all) },
      releases: {
        current: { version: '1.0', revision: '', since: new Date(AT).toISOString(), requests: {} },
        previous: null,
        routes: [],
      },
      ...more,
    }),
    latencies: {
      all: { maxUs: 9000, cells: [1000, all] },
      routes: Object.entries(counts).map(([route, count]) => ({
        method: 'GET',
        route,
        maxUs: 9000,
        cells: [1000, count],
      })),
    },
  }
}

const recordedOf = (more) => ({
  asked: { from: AT, to: AT + 60_000 },
  points: pointsOf(60),
  start: totalsAt(0, { '/users/:id': 1000, '/pay': 40 }),
  end: totalsAt(60, { '/users/:id': 3000, '/pay': 80, '/new': 20 }),
  findings: [],
  hasVerdict: true,
  slowest: [],
  options: { shed: { mode: 'adaptive', key: null }, ignore: null },
  zone: 'Europe/Berlin',
  ...more,
})
const documentOf = (more, baseline) => makeDocument(makeRun(recordedOf(more)), css, baseline).html
const textOf = (page) =>
  page.replace(/<style>[\s\S]*?<\/style>|<script[\s\S]*?<\/script>/g, '').replace(/<[^>]*>/g, '\n')

describe('the document', () => {
  test('lets nothing run and loads nothing: its style by its hash, and no address in its markup', () => {
    const { html: page, policy } = makeDocument(makeRun(recordedOf({})), css)
    const [, style] = page.match(/<style>([\s\S]*?)<\/style>/)
    assert.equal(
      policy,
      `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`
    )
    assert.ok(
      page.includes(
        `<meta http-equiv="Content-Security-Policy" content="${policy.replaceAll("'", '&#39;')}">`
      )
    )
    const markup = page.replace(/<(style|script)[\s\S]*?<\/\1>/g, '')
    assert.doesNotMatch(markup, /\son\w+=|\sstyle=|\ssrc=|https?:|url\(|@import|<(a|img|link|iframe|form)\b/)
    assert.doesNotMatch(style, /url\(|@import|https?:/)
    assert.equal(page.match(/<script/g)?.length, 1)
  })

  test('holds its run, which gives the same document again', () => {
    const run = makeRun(recordedOf({ findings: [{ ...finding({}), ...seenAt(1, 9) }] }))
    const page = makeDocument(run, css).html
    const read = readRun(page)
    assert.deepEqual(read, JSON.parse(JSON.stringify(run)))
    assert.equal(makeDocument(/** @type {any} */ (read), css).html, page)
    for (const text of ['', '<html></html>', page.replace('spillway.report.1', 'spillway.report.9')])
      assert.equal(readRun(text), undefined)
  })

  for (const name of ['requests', 'routes', 'curves', 'releases', 'from'])
    test(`without its ${name} holds no run that another one can be compared with`, () => {
      const run = makeRun(recordedOf({}))
      const page = makeDocument(run, css).html
      const data = JSON.stringify({ ...run, [name]: undefined })
      const damaged = page.replace(/(id="spillway-run">)[^<]*/, (_all, start) => start + data)
      assert.ok(readRun(page) !== undefined && damaged !== page)
      assert.equal(readRun(damaged), undefined)
    })

  test('is made without a comparison that fails, and says so: a run is not lost', () => {
    const run = makeRun(recordedOf({ notices: ['Before.'] }))
    const baseline = /** @type {any} */ ({ ...run, routes: undefined })
    const made = makeReport(run, css, baseline)
    const left = /^The comparison with the earlier report failed, and is left out\. /
    assert.deepEqual([made.run.notices.length, made.run.notices[0]], [2, 'Before.'])
    assert.match(made.run.notices[1], left)
    assert.equal(made.html, makeDocument(made.run, css).html)
    assert.deepEqual(makeReport(run, css, run).run, run)
  })

  test('shows the time in the proxy, in all and by slow request, where a proxy stamps requests', () => {
    const slow = (proxyMs) => ({
      at: new Date(AT + 1000).toISOString(),
      method: 'GET',
      route: '/pay',
      status: 200,
      outcome: 'completed',
      durationMs: 12,
      parts: PARTS,
      proxyMs,
      traceId: null,
      requestId: null,
    })
    const stamped = (sinceStart) => {
      const totals = totalsAt(60, { '/pay': 20 })
      totals.snapshot.routes[0].parts = { sinceStart, lastMinute: sinceStart }
      return { start: totalsAt(0, {}), end: totals }
    }
    const rowOf = (page, id) =>
      [...page.matchAll(new RegExp(`<section id="${id}"[\\s\\S]*?</section>`, 'g'))].map(([section]) =>
        textOf(section).split('\n').filter(Boolean)
      )[0]
    const page = documentOf({ ...stamped({ ...PARTS, proxyMs: 9000 }), slowest: [slow(720), slow(null)] })
    assert.ok(rowOf(page, 'parts').includes('450 ms'))
    assert.ok(rowOf(page, 'slowest').includes('720 ms'))
    for (const id of ['parts', 'slowest']) assert.ok(rowOf(page, id).includes('in the proxy'), id)
    const without = documentOf({ ...stamped(PARTS), slowest: [slow(null)] })
    assert.doesNotMatch(without, /in the proxy/)
  })

  test('stays small for a long run with many routes, findings and stalls', () => {
    const counts = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [`/${'a'.repeat(60)}/${i}`, 1000 + i])
    )
    const noise = (i) => ({
      requests: 1000 + ((i * 7919) % 977),
      p99: (i * 31) % 497,
      stallMs: (i * 13) % 150,
      rss: 1e8 + i * 1e4,
    })
    const site = (i) => ({
      cause: 'javascript',
      function: `f${i}`,
      file: 'app.js',
      line: i,
      package: null,
      route: '/x',
      method: 'GET',
      origin: 'request',
      count: 3,
      totalMs: 100,
      maxMs: 90,
      lastAt: new Date(AT + 5000).toISOString(),
      frames: Array.from(
        { length: 30 },
        (_, j) => `frame${j} (/srv/app/node_modules/somewhere/file.js:${j})`
      ),
    })
    const page = documentOf({
      points: pointsOf(3600, noise),
      asked: { from: AT, to: AT + 3_600_000 },
      start: totalsAt(0, {}),
      end: totalsAt(3600, counts, {
        stalls: { count: 99, totalMs: 9, sites: Array.from({ length: 50 }, (_, i) => site(i)) },
      }),
      findings: Array.from({ length: 60 }, (_, i) => ({
        ...finding({ route: `GET /${i}` }),
        ...seenAt(1, 9),
      })),
    })
    assert.ok(Buffer.byteLength(page) < MAX_BYTES, `${Buffer.byteLength(page)} bytes`)
    assert.match(textOf(page), /A point stands for 15 seconds/)
    assert.match(textOf(page), /And 250 routes with fewer requests/)
  })

  test('names what a stalled function called, and the largest part of the calls to a host', () => {
    const site = {
      cause: 'native',
      function: 'readPrices',
      file: 'app/prices.js',
      line: 7,
      package: null,
      call: 'JSON.parse',
      bodyBytes: 2_000_000,
      route: '/prices',
      method: 'GET',
      origin: 'request',
      count: 1,
      totalMs: 200,
      maxMs: 200,
      lastAt: new Date(AT + 1000).toISOString(),
      frames: [],
    }
    const sinceStart = { count: 10, errors: 0, totalMs: 1000, maxMs: 200, connections: 4 }
    const parts = { lookupMs: 900, connectMs: 20, firstByteMs: 30 }
    const page = documentOf({
      end: totalsAt(
        60,
        {},
        {
          stalls: { count: 1, totalMs: 200, sites: [site] },
          outgoing: { hosts: [{ host: 'shop.test', sinceStart: { ...sinceStart, ...parts } }], folded: 0 },
        }
      ),
    })
    assert.match(textOf(page), /prices\.js:7\s+calling JSON\.parse with a body of 2 MB/)
    assert.match(textOf(page), /shop\.test\s[\s\S]*DNS 90 %/)
  })

  test('takes whatever a service says for text', () => {
    const tags = (page) => [...page.matchAll(/<\/?([a-z0-9!]+)/g)].map(([, tag]) => tag).join()
    const pageOf = (text) =>
      documentOf({
        title: text,
        address: text,
        command: text,
        notices: [text],
        options: { shed: { [text]: text } },
        start: 'process',
        end: totalsAt(
          60,
          { [text]: 100 },
          {
            errors: [
              {
                route: text,
                status: 500,
                type: text,
                count: 3,
                method: 'GET',
                message: text,
                place: text,
                lastAt: new Date(0).toISOString(),
              },
            ],
            processErrors: { [`x${text}`]: 3 },
            stalls: {
              count: 1,
              totalMs: 1,
              sites: [
                {
                  cause: text,
                  function: text,
                  file: text,
                  line: 1,
                  package: text,
                  call: text,
                  bodyBytes: 1,
                  route: text,
                  method: text,
                  origin: text,
                  count: 1,
                  totalMs: 1,
                  maxMs: 1,
                  lastAt: new Date(AT + 1000).toISOString(),
                  frames: [text],
                },
              ],
            },
            outgoing: {
              hosts: [{ host: text, sinceStart: { count: 1, errors: 0, totalMs: 1, maxMs: 1 } }],
              folded: 0,
            },
            pools: [poolOf({ name: text, kind: text, holders: [holderOf(text, 3)] })],
            sockets: socketsOf({
              connections: {
                open: 1,
                opened: 1,
                transports: [],
                closed: { [`x${text}`]: 3 },
                refused: { [`x${text}`]: 3 },
              },
              events: [eventOf(text, 3)],
            }),
          }
        ),
        slowest: [
          {
            at: new Date(AT + 1000).toISOString(),
            method: text,
            route: text,
            status: 200,
            outcome: text,
            durationMs: 5,
            parts: PARTS,
            traceId: null,
            requestId: text,
          },
        ],
        findings: [
          {
            ...finding({
              summary: text,
              advice: text.replaceAll('`', ''),
              effectOf: text,
              evidence: [{ name: text, value: 1, unit: text }],
            }),
            ...seenAt(1, 2),
          },
        ],
      })
    const expected = tags(pageOf('harmless'))
    for (const id of ['pools', 'sockets', 'outgoing'])
      assert.ok(pageOf('harmless').includes(`<section id="${id}"`), id)
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom(
        `<img src=x onerror="alert(1)">`,
        '</script><script>alert(1)</script>',
        '</style><style>*{}',
        `" onload='x`,
        '<!--',
        ']]>',
        '\u0024{1}',
        '&lt;',
        '\u202e\u2066gnp',
        '\ud800',
        '$&$1',
        '</svg>',
        '/*STYLES*/',
        'answerOf',
        'constructor',
        '__proto__',
        'toString'
      )
    )
    fc.assert(
      fc.property(hostile, (text) => {
        const page = pageOf(text)
        assert.equal(tags(page), expected)
        assert.doesNotMatch(page, /[\u202a-\u202e\u2066-\u2069]/)
        assert.equal(readRun(page)?.title, JSON.parse(JSON.stringify(text)))
      }),
      { numRuns: 100 }
    )
  })
})

const seenAt = (from, to) => ({
  firstAt: new Date(AT + from * 1000).toISOString(),
  lastAt: new Date(AT + to * 1000).toISOString(),
  wasThere: false,
})

describe('the figures', () => {
  test('are those at the end without those at the start, where both are known', () => {
    const run = makeRun(recordedOf({}))
    assert.deepEqual([run.covers, run.eventsCover], ['run', 'run'])
    assert.deepEqual(
      run.routes.map(({ route, count, errors, shed, perSecond, latencies }) => [
        route,
        count,
        errors,
        shed,
        perSecond,
        latencies?.count,
      ]),
      [
        ['/users/:id', 2000, 500, 200, 2000 / 60, 2000],
        ['/pay', 40, 10, 4, 40 / 60, 40],
        ['/new', 20, 5, 2, 20 / 60, 20],
      ]
    )
    assert.deepEqual([run.requests.count, run.requests.errors], [2060, 515])
    assert.match(textOf(documentOf({})), /Exactly this run/)
  })

  test('of a process that started in the run count from its start', () => {
    const end = totalsAt(60, { '/users/:id': 300 }, { uptimeSeconds: 30 })
    const run = makeRun(recordedOf({ start: 'process', end }))
    assert.deepEqual([run.routes[0].count, run.routes[0].perSecond], [300, 10])
  })

  for (const jump of [-90, 90])
    test(`are by the clock of the process where its wall clock jumps by ${jump} s`, () => {
      const end = totalsAt(60 + jump, { '/users/:id': 1300, '/pay': 40 }, { uptimeSeconds: 3660 })
      const more = { end, seconds: 60, asked: { from: AT - 90_000, to: AT + 150_000 } }
      const run = makeRun(recordedOf(more))
      assert.deepEqual([run.seconds, run.routes[0].count, run.routes[0].perSecond], [60, 300, 5])
      assert.match(textOf(documentOf(more)), /15:02:30 \(60 s\)\./)
    })

  test('of seconds between which the wall clock was set back are no less than were counted', () => {
    const points = [1, 2, 3, -28, -27].map((second) => pointAt(AT + second * 1000))
    const end = totalsAt(-26, { '/users/:id': 300 })
    const run = makeRun(
      recordedOf({ start: undefined, asked: { from: -Infinity, to: Infinity }, points, end })
    )
    assert.deepEqual([run.from, run.to, run.requests.count], [AT - 29_000, AT + 3000, 500])
    assert.ok(run.seconds > 0 && run.requests.perSecond > 0)
  })

  test('are of the last minute where the start is not known, and the report says so of each table', () => {
    const more = { start: undefined }
    const run = makeRun(recordedOf(more))
    assert.deepEqual([run.covers, run.eventsCover, run.requests.isBySeconds], ['minute', 'process', true])
    assert.deepEqual([run.requests.count, run.requests.errors], [6000, 60])
    const text = textOf(documentOf(more))
    assert.match(
      text,
      /Counts add up the requests of each second of the run\. Latencies: only the last minute/
    )
    assert.match(text, /Only the last minute, from 15:00:00 on/)
    assert.match(text, /Since the process started, 2026-11-26 14:00:00/)
    assert.doesNotMatch(text, /Exactly this run/)
  })

  test('are since the start of the process for a run that ended earlier, without findings of now', () => {
    const more = {
      start: undefined,
      asked: { from: AT + 5000, to: AT + 20_000 },
      findings: [{ ...finding({}), ...seenAt(60, 60) }],
    }
    const run = makeRun(recordedOf(more))
    assert.deepEqual([run.covers, run.findings, run.isJudged], ['process', [], false])
    assert.deepEqual([run.from, run.to, run.requests.count], [AT + 5000, AT + 20_000, 1500])
    assert.match(textOf(documentOf(more)), /this run ended earlier/)
  })

  for (const [covers, asked] of Object.entries({ minute: {}, process: { from: AT + 5000, to: AT + 20_000 } }))
    test(`have the mean of each route, which its parts sum to, where they cover the ${covers}`, () => {
      const more = { start: undefined, asked: { from: AT, to: AT + 60_000, ...asked } }
      const run = makeRun(recordedOf(more))
      const { latencies } = run.routes.find(({ route }) => route === '/new')
      assert.deepEqual([run.covers, latencies.meanMs], [covers, 10 / 20])
      const [, section] = /<section id="routes"(.*?)<\/section>/s.exec(documentOf(more))
      const [, row] = /GET \/new<\/th>(.*?)<\/tr>/.exec(section)
      const column = [...section.matchAll(/<th scope="col"[^>]*>(.*?)<\/th>/g)].findIndex(
        ([, name]) => name === 'mean'
      )
      assert.equal([...row.matchAll(/<td[^>]*>(.*?)<\/td>/g)][column - 1][1], '0.50 ms')
    })

  test('of all that a young process has done are exact', () => {
    const end = totalsAt(60, { '/users/:id': 300 }, { uptimeSeconds: 60 })
    const run = makeRun(recordedOf({ start: undefined, asked: { from: -Infinity, to: Infinity }, end }))
    assert.deepEqual([run.covers, run.routes[0].count], ['run', 300])
  })

  test('beside those of an earlier run', () => {
    const earlier = makeRun(
      recordedOf({ title: 'Earlier', end: totalsAt(60, { '/users/:id': 2000, '/gone': 10, '/pay': 80 }) })
    )
    const text = textOf(documentOf({}, earlier))
    assert.match(text, /Before: Earlier, 2026-11-26 15:00:00/)
    assert.match(text, /requests a second\s+18\s+34\s+\+96 %/)
    assert.match(text, /Only before: GET \/gone\./)
  })
})

describe('latencies between two counts', () => {
  test('leave out what was counted before', () => {
    const latencies = latenciesBetween(
      { maxUs: 50_000, cells: [1000, 60, 2000, 50, 50_000, 10] },
      { maxUs: 50_000, cells: [1000, 50, 50_000, 10] }
    )
    assert.deepEqual(latencies, {
      count: 60,
      meanMs: 110 / 60,
      p50Ms: 2,
      p90Ms: 2,
      p95Ms: 2,
      p99Ms: 2,
      p999Ms: 2,
      maxMs: 2,
    })
  })
  test('are none where nothing was counted', () => {
    assert.equal(latenciesBetween({ maxUs: 5, cells: [5, 1] }, { maxUs: 5, cells: [5, 1] }), null)
  })
  test('have the highest value to the microsecond, where it is of this run', () => {
    assert.equal(
      latenciesBetween({ maxUs: 50_111, cells: [50_431, 2] }, { maxUs: 9, cells: [9, 1] })?.maxMs,
      50.111
    )
  })
})

test('curves keep the worst of each step, and their figures are those of all points', () => {
  const points = pointsOf(900, (i) => ({ p99: i === 450 ? 900 : 10, requests: i % 2 === 0 ? 0 : 200 }))
  const { stepSeconds, rows, columns, figures } = makeCurves(points)
  const column = (name) => rows.map((row) => row[columns.indexOf(name)])
  assert.equal(stepSeconds, 4)
  assert.equal(rows.length, 225)
  assert.equal(Math.max(...column('p99').map(Number)), 900)
  assert.deepEqual(figures.Latency[1], { least: 10, median: 10, most: 900, mostAt: AT + 451_000 })
  assert.equal(figures['Requests a second'][0]?.most, 200)
})

test('a finding is shown once, as it was at its worst, with when it was seen', () => {
  const sightings = new Sightings()
  const add = (second, ...findings) =>
    sightings.add(diagnosisOf({ at: new Date(AT + second * 1000).toISOString(), findings }))
  add(0, finding({ severity: 'low', share: 0.1 }))
  add(
    5,
    finding({ severity: 'high', share: 0.9 }),
    finding({ problem: 'overloaded', route: null, severity: 'medium' })
  )
  add(9, finding({ severity: 'medium', share: 0.2 }))
  assert.deepEqual(
    sightings
      .list()
      .map(({ problem, severity, share, firstAt, lastAt, wasThere }) => [
        problem,
        severity,
        share,
        Date.parse(firstAt) - AT,
        Date.parse(lastAt) - AT,
        wasThere,
      ]),
    [
      ['errors', 'high', 0.9, 0, 9000, true],
      ['overloaded', 'medium', 0.5, 5000, 5000, false],
    ]
  )
})

test('findings stand in the order of the doctor: each cause with its effects, the worst first', () => {
  const of = (problem, severity, effectOf = null) => finding({ problem, severity, effectOf, route: null })
  const sightings = new Sightings()
  const listed = () => sightings.list().map(({ problem }) => problem)
  const findings = [
    of('host-starved', 'high'),
    of('overloaded', 'low', 'host-starved'),
    of('errors', 'high'),
    of('event-loop-blocked', 'medium'),
    of('cpu-saturated', 'medium', 'event-loop-blocked'),
  ]
  sightings.add(diagnosisOf({ findings }))
  assert.deepEqual(
    listed(),
    findings.map(({ problem }) => problem)
  )
  // What was a cause is seen to be an effect: what it explains goes with it.
  sightings.add(
    diagnosisOf({
      findings: [of('garbage-collection', 'high'), of('event-loop-blocked', 'medium', 'garbage-collection')],
    })
  )
  assert.deepEqual(listed(), [
    'host-starved',
    'overloaded',
    'errors',
    'garbage-collection',
    'event-loop-blocked',
    'cpu-saturated',
  ])
  assert.equal(sightings.list().at(-2)?.effectOf, 'garbage-collection')
})

test('of two equal severities the larger share is the worst, whichever comes first', () => {
  const sightings = new Sightings()
  for (const share of [0.4, 0.7, 0.6])
    sightings.add(diagnosisOf({ at: new Date(AT).toISOString(), findings: [finding({ share })] }))
  assert.deepEqual(
    sightings.list().map(({ share }) => share),
    [0.7]
  )
})

test('a curve begins at the left of its drawing and ends at the right, and each line has a name in the legend', () => {
  const points = pointsOf(11)
  const drawn = drawCurves(
    {
      from: points[0].at,
      to: points[10].at,
      curves: makeCurves(points),
      releases: { current: { since: new Date(points[5].at).toISOString() } },
    },
    new Times('UTC', AT)
  )
  const [, path] = /class="line orange"[^>]* d="([^"]+)"/.exec(drawn.text) ?? []
  const [, left, right] = /<line x1="(\d+)" x2="(\d+)"/.exec(drawn.text) ?? []
  const places = [...String(path).matchAll(/[ML]([\d.]+),/g)].map(([, place]) => Number(place))
  assert.deepEqual([places.length, places[0], places[10]], [11, Number(left), Number(right)])
  assert.match(drawn.text, /<\/i>busy<\/th>/)
  // The release began in the middle.
  assert.match(drawn.text, new RegExp(`id="release-mark" d="M${(Number(left) + Number(right)) / 2},`))
  assert.match(drawn.text, /<\/i>shed<\/th>/)
})

test('that nothing was found is said only where the doctor could tell', () => {
  const sightings = new Sightings()
  sightings.add(diagnosisOf({ healthy: null }))
  assert.equal(sightings.hasVerdict, false)
  assert.match(textOf(documentOf({ hasVerdict: false })), /too little traffic for the doctor to tell/)
  sightings.add(diagnosisOf())
  assert.equal(sightings.hasVerdict, true)
  assert.match(textOf(documentOf({})), /No problem was found/)
})

test('that other workers have answered a part of the requests is said', () => {
  assert.match(textOf(documentOf({ workers: 4 })), /figures of one of 4 workers/)
  assert.doesNotMatch(textOf(documentOf({ workers: 1 })), /workers/)
})

test('times are of the zone that the report names', () => {
  const times = new Times('Europe/Berlin', AT)
  assert.deepEqual(
    [times.name, times.time(AT), times.moment(AT)],
    ['Europe/Berlin (GMT+1)', '15:00:00', '2026-11-26 15:00:00']
  )
  assert.equal(reportName(AT, 'UTC'), 'spillway-report-20261126-140000.html')
  assert.deepEqual(['UTC', 'Mars/Olympus', '<b>'].map(isZone), [true, false, false])
})

test('text is escaped, markup and lists of it are not', () => {
  assert.equal(
    html`<b title="${'"'}">${'<&>'}${[html`<i></i>`, null, 'x']}${false}${0}</b>`.text,
    '<b title="&quot;">&lt;&amp;&gt;<i></i>x0</b>'
  )
})

test('costly answers rest: one after the other, never older than their request, and shared by those who wait', async () => {
  const fake = new FakeClock()
  const timers = []
  const rest = new PauseRest(fake)
  const rested = new Rested({ after: (delayMs, callback) => timers.push({ delayMs, callback }) }, rest)
  let made = 0
  const make = () => {
    fake.advance(10)
    return ++made
  }
  const nextTimer = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return timers.shift()
  }
  const answerOf = async (promise) => (await promise).value
  assert.equal(await answerOf(rested.take('a', make)), 1)
  const waiting = [rested.take('a', make), rested.take('a', make), rested.take('b', make)]
  const first = await nextTimer()
  assert.deepEqual([first.delayMs, made, timers.length], [190, 1, 0])
  fake.advance(190)
  first.callback()
  const second = await nextTimer()
  assert.deepEqual([second.delayMs, made, timers.length], [190, 2, 0])
  fake.advance(190)
  second.callback()
  assert.deepEqual(await Promise.all(waiting.map(answerOf)), [2, 2, 3])
  const failed = rested.take('c', () => {
    throw new Error('cannot')
  })
  const last = await nextTimer()
  fake.advance(190)
  last.callback()
  await assert.rejects(failed, /cannot/)
  assert.equal(await answerOf(rested.take('a', make)), 4)
})

test('a long rest refuses, and whatever blocks the loop on demand adds to it', async () => {
  const fake = new FakeClock()
  const pauses = []
  const rest = new PauseRest(fake, (ms) => pauses.push(ms))
  const rested = new Rested({ after: () => assert.fail('nobody waits so long') }, rest)
  assert.equal(rest.refusal, undefined)
  rest.pausing(() => fake.advance(100))
  rest.pausing(() => fake.advance(50))
  assert.deepEqual([rest.leftMs, pauses], [19 * 150 - 50, [100, 50]])
  const refused = await rested.take('a', () => assert.fail('it rests'))
  assert.deepEqual(refused, { refusal: rest.refusal })
  assert.deepEqual([rest.refusal?.status, rest.refusal?.headers], [429, { 'Retry-After': '3' }])
  fake.advance(19 * 150 - 50)
  assert.deepEqual(await rested.take('a', () => 7), { value: 7 })
})

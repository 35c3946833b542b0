'use strict'
// Figures, widths, tables, keys and rates of the command line: the parts that need no service.

const assert = require('node:assert/strict')
const { describe, test } = require('node:test')
const { adminUrl } = require('../../src/cli/address')
const figures = require('../../src/cli/figures')
const {
  clip,
  clipDistinct,
  jsonLines,
  padEnd,
  padStart,
  printable,
  widthOf,
  wrap,
} = require('../../src/cli/printable-text')
const { snapshotLines } = require('../../src/cli/snapshot-sections')
const { layOut, tableLines } = require('../../src/cli/text-table')
const { routeDetail } = require('../../src/cli/top/route-detail')
const { keysOf } = require('../../src/cli/top/terminal')
const { OUTSIDE } = require('../../src/cli/top/head-lines')
const { RULES } = require('../../src/features/doctor/rules')
const { SnapshotRates } = require('../../src/cli/top/feed')
const { routeOf, snapshotOf, socketsOf, summaryOf } = require('./admin-stand-in')

const plain = (_style, text) => text
const marked = (style, text) => (style === undefined ? text : `\x1b[31m${text}\x1b[39m`)

describe('columns of figures keep their decimals', () => {
  const cases = {
    ms: [
      [0, '0'],
      [0.0412, '0.04'],
      [0.42, '0.4'],
      [9.96, '10.0'],
      [24.72, '24.7'],
      [99.96, '100'],
      [1391, '1391'],
      [null, '–'],
    ],
    rate: [
      [0, '0'],
      [0.04, '0.0'],
      [1.64, '1.6'],
      [99.96, '100'],
      [1283.4, '1283'],
      [undefined, '–'],
    ],
  }
  for (const [name, pairs] of Object.entries(cases))
    test(name, () => {
      for (const [value, text] of pairs) assert.equal(figures[name](value), text, String(value))
    })
})

describe('text of a service', () => {
  test('loses its control characters, those that turn text around included', () => {
    assert.equal(
      printable('a\x1b[2J\r\n\u{9b}b\u{202e}\u{2028}'),
      'a\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}b\u{fffd}\u{fffd}'
    )
    assert.equal(printable('/käse/:id/日本'), '/käse/:id/日本')
  })

  test('has the width that a terminal gives it', () => {
    assert.equal(widthOf('abc'), 3)
    assert.equal(widthOf('日本'), 4)
    assert.equal(widthOf('e\u{301}'), 1)
    assert.equal(widthOf(marked('red', 'ab')), 2)
    assert.equal(padStart('日', 4), '  日')
    assert.equal(padEnd('日', 4), '日  ')
  })

  test('is cut to a width, and a colour that was open is closed', () => {
    assert.equal(clip('abcdef', 4), 'abcd')
    assert.equal(clip('abcdef', 4, '…'), 'abc…')
    assert.equal(clip('日本語', 4), '日本')
    assert.equal(clip('日本語', 3), '日')
    assert.equal(clip('abc', 0, '…'), '')
    assert.equal(clip(marked('red', 'abcdef'), 2), '\x1b[31mab\x1b[0m')
    assert.equal(clip(marked('red', 'ab'), 2), marked('red', 'ab'))
  })

  test('is broken at spaces', () => {
    assert.deepEqual(wrap('one two three', 7), ['one two', 'three'])
    assert.deepEqual(wrap('breakable word', 4), ['brea', 'kabl', 'e', 'word'])
    assert.deepEqual(wrap('up 12 ms and 5 % more', 7), ['up', '12 ms', 'and 5 %', 'more'])
  })

  test('is JSON without control characters', () => {
    const value = { route: '\x1b[2J\u{9b}\u{2028}\x7f\u{202e}\u{200b}\u{e0041} 日本😀' }
    const [text] = jsonLines(value, { isScreen: false })
    assert.deepEqual(JSON.parse(text), value)
    assert.doesNotMatch(text, /[\p{Cc}\p{Cf}\p{Zl}]/u)
    assert.ok(text.includes('\\u202e') && text.endsWith(' 日本😀"}'), text)
    const [indented] = jsonLines(value, { isScreen: true })
    assert.ok(indented.startsWith('{\n  "route"'), 'lines stay lines')
  })
})

describe('names that are cut', () => {
  const routes = [
    'GET /users/:id',
    'GET /api/v1/customers/:customerId/orders/:orderId/items',
    'GET /api/v1/customers/:customerId/invoices/:invoiceId/items',
    'GET /api/v1/customers/:customerId/orders/:orderId/items',
    'GET /api/v1/customers/:customerId/invoices/:orderId/items',
    'POST /api/v1/customers/:customerId/orders/:orderId/items',
    'GET /日本語/:name/日本/items',
    'GET /日本語/:name/東京/items',
    `GET /${'a'.repeat(50)}x${'a'.repeat(50)}`,
    `GET /${'a'.repeat(50)}y${'a'.repeat(50)}`,
  ]

  test('stay different, at any width that has room for a number', () => {
    for (let width = 4; width < 120; width++) {
      const shown = clipDistinct(routes, width, '…')
      assert.equal(new Set(shown).size, new Set(routes).size, `${width}: ${shown.join(', ')}`)
      assert.ok(
        shown.every((text) => widthOf(text) <= width),
        `${width}: ${shown.join(', ')}`
      )
      assert.equal(shown[1], shown[3])
    }
  })

  test('keep what tells them apart', () => {
    const [short, orders, invoices] = clipDistinct(routes.slice(0, 5), 24, '…')
    assert.equal(short, routes[0])
    assert.match(orders, /^GET .*…ord.*items$/)
    assert.match(invoices, /^GET .*iceId\/items$/)
  })
})

describe('a table', () => {
  const columns = [
    { head: 'route', isText: true, isFlexible: true, of: ({ route }) => route },
    { head: 'ms', least: 4, of: ({ ms }) => ms },
  ]
  const rows = [
    { route: '/users/:id', ms: 1 },
    { route: '/', ms: 12345 },
  ]

  test('has columns as wide as their cells, numbers to the right', () => {
    assert.deepEqual(tableLines(columns, rows, { paint: plain }), [
      'route          ms',
      '/users/:id      1',
      '/           12345',
    ])
  })

  test('cuts the flexible column to a width, and widens it where it fills the line', () => {
    assert.deepEqual(tableLines(columns, rows, { paint: plain, width: 13, end: '…' }).slice(1), [
      '/us…id      1',
      '/       12345',
    ])
    const { head, rows: filled } = layOut(columns, rows, { paint: plain, width: 30, fills: true })
    assert.deepEqual([head, ...filled].map(widthOf), [30, 30, 30])
  })

  test('leaves columns out where a line is narrower than they say', () => {
    const narrow = [...columns, { head: 'p99', from: 40, of: () => 7 }]
    const headAt = (width) => tableLines(narrow, rows, { paint: plain, width })[0]
    assert.match(headAt(40), /p99$/)
    assert.doesNotMatch(headAt(39), /p99/)
    assert.match(headAt(undefined), /p99$/)
  })

  test('leaves a column out where no row has a value', () => {
    const some = [...columns, { head: 'proxy', isKnown: ({ proxy }) => proxy !== undefined, of: () => '' }]
    const headOf = (given) => tableLines(some, given, { paint: plain })[0]
    assert.doesNotMatch(headOf(rows), /proxy/)
    assert.match(headOf([...rows, { route: '/', ms: 1, proxy: 0 }]), /proxy$/)
  })
})

describe('the time in the proxy', () => {
  const slow = (proxyMs) => ({
    at: '2026-01-01T00:00:00.000Z',
    method: 'GET',
    route: '/a',
    status: 200,
    outcome: 'completed',
    durationMs: 12,
    parts: null,
    proxyMs,
    requestId: null,
    traceId: null,
  })
  const sums = { queueMs: 0, runMs: 20, loopBusyMs: 0, gcMs: 0, waitMs: 20, bodyMs: 0, unreadMs: 0 }
  const routeWith = (proxyMs) =>
    routeOf('/a', 10, { parts: { sinceStart: sums, lastMinute: { ...sums, proxyMs } } })
  const out = { paint: plain, isUnicode: true }
  const detailOf = (route, slowest) => {
    const snapshot = snapshotOf({ routes: [route], slowest })
    const rates = { of: () => ({ requests: 1, errors: 0, shed: 0 }) }
    return routeDetail(route, { snapshot, rates }, { out, width: 100 })
  }

  test('is shown by `top` beside the parts of a route, and by slow request', () => {
    const lines = detailOf(routeWith(3000), [slow(450), slow(0)])
    assert.ok(lines.some((line) => /^ {2}proxy +300 ms +before it arrived$/.test(line)))
    const head = lines.findIndex((line) => /^ {2}at +ms +proxy ms +status/.test(line))
    assert.deepEqual(
      lines.slice(head + 1, head + 3).map((line) => line.split(/ +/).slice(2, 4)),
      [
        ['12.0', '450'],
        ['12.0', '0'],
      ]
    )
  })

  test('is not shown without a stamp of a proxy, nor for a service that does not know it', () => {
    for (const proxyMs of [null, undefined])
      assert.doesNotMatch(detailOf(routeWith(0), [slow(proxyMs)]).join('\n'), /proxy/)
  })

  test('is shown by `snapshot` for its slowest requests', () => {
    const linesOf = (slowest) => {
      const lines = snapshotLines(snapshotOf({ slowest }), {
        out: { ...out, lineWidth: 100 },
        url: 'http://a',
      })
      return lines.slice(lines.indexOf('Slowest requests') + 1)
    }
    assert.match(linesOf([slow(450)])[0], /^ {2}route +ms +proxy ms +status/)
    assert.match(linesOf([slow(450)])[1], /^ {2}GET \/a +12\.0 +450 +200/)
    assert.doesNotMatch(linesOf([slow(null)])[0], /proxy/)
  })
})

test('the tables of `snapshot` are of the last minute, and a figure since the start says total', () => {
  const latency = { lastMinute: summaryOf(1), sinceStart: summaryOf(1) }
  const event = { ...latency, event: 'chat', acks: null, outcomes: { completed: 1, errored: 0, shed: 0 } }
  const times = { lastMinute: { count: 1, meanMs: 1, p99Ms: 1 } }
  const none = { lastMinute: { count: 0, meanMs: 0, p99Ms: 0 } }
  const statement = { method: 'GET', route: '/statement' }
  const pool = {
    name: 'shop',
    holders: [{ method: 'POST', route: '/transfers' }],
    longestHeld: [{ ...statement, ageMs: 999 }],
    queries: [],
    kind: 'pg',
    used: 1,
    idle: 1,
    waiting: 0,
    max: 2,
    timeouts: 3,
    wait: times,
    use: times,
  }
  const lines = snapshotLines(
    snapshotOf({
      routes: [routeOf('/a', 10, { shed: 7 })],
      pools: [
        pool,
        { ...pool, name: 'ledger', wait: none, use: none, longestHeld: [{ ...statement, ageMs: 1000 }] },
      ],
      sockets: socketsOf({ events: [event], connections: { ...socketsOf().connections, opened: 1 } }),
    }),
    { out: { paint: plain, isUnicode: true, lineWidth: 120 }, url: 'http://a' }
  )
  assert.match(lines[lines.indexOf('Routes, last minute') + 1], / errors +shed total$/)
  assert.ok(lines.some((line) => / timeouts total +held by/.test(line)))
  // A connection that is held for a second says more than who has used the pool most.
  assert.ok(lines.some((line) => / shop .* POST \/transfers$/.test(line)))
  // No caller has got a connection in the last minute, so there is no time.
  assert.ok(lines.some((line) => / ledger .* [–-] +[–-] +3 +GET \/statement *$/.test(line)))
  assert.ok(lines.some((line) => /^ {2}event .* errors total +shed total$/.test(line)))
})

test('keys are read one by one, and what is none is left out', () => {
  assert.deepEqual(keysOf('\x1b[Bj\x1bOA\x1b[6~\r'), ['down', 'down', 'up', 'page down', 'enter'])
  assert.deepEqual(keysOf('\x1b'), ['back'])
  assert.deepEqual(keysOf('x\x1b[200~\x1b[1;5Zq'), ['quit'])
  assert.deepEqual(keysOf('constructor'), ['sort'])
})

describe('an address', () => {
  const cases = {
    9465: 'http://127.0.0.1:9465',
    'shop.internal': 'http://shop.internal:9464',
    'shop.internal:80': 'http://shop.internal',
    'shop.internal/a': 'http://shop.internal:9464/a',
    '[::1]:9465': 'http://[::1]:9465',
    'https://ops.example/shop/': 'https://ops.example/shop',
    'http://ops.example': 'http://ops.example',
  }
  for (const [given, url] of Object.entries(cases)) test(given, () => assert.equal(adminUrl(given, {}), url))

  test('is that of the environment, or the default', () => {
    assert.equal(adminUrl(undefined, {}), 'http://127.0.0.1:9464')
    assert.equal(adminUrl(undefined, { SPILLWAY_ADMIN_URL: '9470' }), 'http://127.0.0.1:9470')
    assert.equal(adminUrl('9471', { SPILLWAY_ADMIN_URL: '9470' }), 'http://127.0.0.1:9471')
  })
})

test('top knows which problems are not of the process', () => {
  const outside = RULES.filter(({ isOutside }) => isOutside).map(({ problem }) => problem)
  assert.deepEqual([...OUTSIDE].sort(), outside.sort())
})

describe('rates', () => {
  const at = (uptimeSeconds, count, more) =>
    snapshotOf({
      uptimeSeconds,
      requests: { inFlight: 0, lastMinute: summaryOf(30, { errorRatio: 0.1 }), sinceStart: summaryOf(count) },
      routes: [routeOf('/a', count, more)],
    })

  test('are the differences between two snapshots', () => {
    const errored = { completed: 0, errored: 6, aborted: 0, upgraded: 0, timed_out: 2 }
    const now = at(12, 130, { outcomes: errored, loopMs: { sinceStart: 500, lastMinute: 0 } })
    now.admission.shed.push({ reason: 'loop', priority: 'normal', count: 20 })
    const before = at(10, 100, { loopMs: { sinceStart: 100, lastMinute: 0 } })
    const rates = new SnapshotRates(now, before)
    assert.deepEqual(rates.all, { requests: 15, errors: 4, shed: 10 })
    assert.deepEqual(rates.of(now.routes[0]), { requests: 15, errors: 4, shed: 0, loopMs: 200 })
  })

  test('are those of the last minute where there is one snapshot', () => {
    const now = at(12, 130, { loopMs: { sinceStart: 500, lastMinute: 300 }, lastMinute: summaryOf(30) })
    const rates = new SnapshotRates(now, undefined)
    assert.deepEqual(rates.all, { requests: 1, errors: 0.1, shed: undefined })
    assert.deepEqual(rates.of(now.routes[0]), { requests: 1, errors: 0, shed: undefined, loopMs: 10 })
  })

  test('are never below 0, and a new route counts from its start', () => {
    const rates = new SnapshotRates(at(12, 90), at(10, 100))
    assert.equal(rates.all.requests, 0)
    assert.equal(rates.of(routeOf('/new', 8)).requests, 4)
  })
})

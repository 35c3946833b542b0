'use strict'
// The tables, the flame tree and pprof of call trees that are written out here.

const assert = require('node:assert/strict')
const { join } = require('node:path')
const { describe, test } = require('node:test')
const { pathToFileURL } = require('node:url')
const zlib = require('node:zlib')
const { Profile } = require('pprof-format')
const { CallFrames } = require('../../src/features/profiles/call-frames')
const { cpuTree, flameTree, heapTree } = require('../../src/features/profiles/profile-tree')
const { growthOf } = require('../../src/features/profiles/heap-growth')
const { tablesOf } = require('../../src/features/profiles/profile-tables')
const { pprofOf } = require('../../src/features/profiles/pprof')

const url = (path) => pathToFileURL(join(process.cwd(), path)).href
const PLACES = {
  app: ['0', 'app.js'],
  router: ['1', 'node_modules/router/lib/layer.js'],
  route: ['2', 'node_modules/router/lib/route.js'],
  koaRouter: ['3', 'node_modules/@koa/router/lib/router.js'],
  compose: ['4', 'node_modules/koa-compose/index.js'],
  logger: ['5', 'node_modules/logger/index.js'],
  nested: ['6', 'node_modules/logger/node_modules/@scope/inner/index.js'],
}

/** `[name, place, ms, ...callees]`. A place is of PLACES, a module of Node, `native` or `engine`. */
function profileOf(tree) {
  const nodes = []
  const samples = []
  const timeDeltas = [0]
  const add = ([name, place, ms, ...callees]) => {
    const id = nodes.length + 1
    const [scriptId, path] = PLACES[place] ?? [place, place]
    const isNative = place === 'native' || place === 'engine'
    const node = {
      id,
      callFrame: {
        functionName: name,
        scriptId: isNative ? '0' : `s${scriptId}`,
        url: isNative ? '' : path.startsWith('node:') ? path : url(path),
        lineNumber: name.length,
        columnNumber: 0,
      },
      children: /** @type {number[]} */ ([]),
    }
    nodes.push(node)
    samples.push(id)
    timeDeltas.push(ms * 1000)
    node.children = callees.map(add)
    return id
  }
  add(['(root)', 'engine', 0, ...tree])
  return { nodes, samples, timeDeltas, startTime: 0, endTime: timeDeltas.reduce((a, b) => a + b) }
}

const treeOf = (tree, lastMs) => cpuTree(/** @type {any} */ (profileOf(tree)), new CallFrames(), lastMs)
const tables = (tree) => tablesOf(treeOf(tree).root, 'Ms')
const times = (rows) => rows.map(({ name, selfMs, totalMs }) => [name, selfMs, totalMs])

test('self and total time, by function, file and package', () => {
  const { total, functions, files, packages } = tables([
    ['serve', 'app', 10, ['write', 'logger', 20, ['format', 'nested', 5]], ['helper', 'app', 1]],
    ['(garbage collector)', 'engine', 4],
    ['(idle)', 'engine', 1000],
  ])
  assert.equal(total, 40)
  assert.deepEqual(times(functions), [
    ['write', 20, 25],
    ['serve', 10, 36],
    ['format', 5, 5],
    ['(garbage collector)', 4, 4],
    ['helper', 1, 1],
  ])
  assert.deepEqual(times(files), [
    ['node_modules/logger/index.js', 20, 25],
    ['app.js', 11, 36],
    ['node_modules/logger/node_modules/@scope/inner/index.js', 5, 5],
    ['(garbage collector)', 4, 4],
  ])
  assert.deepEqual(times(packages), [
    ['logger', 20, 25],
    ['@scope/inner', 5, 5],
    ['(application)', 11, 36],
    ['(garbage collector)', 4, 4],
  ])
  const { file, line, package: of, selfShare, totalShare, isHandler } = functions[0]
  assert.deepEqual(
    [file, line, of, selfShare, totalShare, isHandler],
    ['node_modules/logger/index.js', 6, 'logger', 0.5, 0.625, false]
  )
  assert.equal(functions[1].package, null)
})

// By `require.resolve`, so that a file which moves fails here.
test('what runs only for the profile is told from the rest of spillway', () => {
  const frames = new CallFrames()
  const nameOf = (file) =>
    frames.of({
      functionName: 'turn',
      scriptId: file,
      url: pathToFileURL(file).href,
      lineNumber: 0,
      columnNumber: 0,
    }).name
  const measuring = [
    require.resolve('../../src/features/profiles/profiled-idle'),
    require.resolve('../../src/features/profiles/cpu-profiler'),
  ]
  assert.deepEqual(new Set(measuring.map(nameOf)), new Set(['(profiler)']))
  assert.equal(nameOf(require.resolve('../../src/core/process/turn-clock')), 'turn')
})

test('a function that calls itself counts once', () => {
  const { functions } = tables([['walk', 'app', 1, ['walk', 'app', 2, ['walk', 'app', 4]]]])
  assert.deepEqual(times(functions), [['walk', 7, 7]])
})

test("Node's functions count for the function that calls them, and the server's own do not", () => {
  const { functions, packages } = tables([
    [
      'parserOnIncoming',
      'node:_http_server',
      1,
      ['hashPassword', 'app', 1, ['pbkdf2Sync', 'node:internal/crypto/pbkdf2', 1, ['run', 'native', 50]]],
      ['log', 'logger', 1, ['writeSync', 'node:fs', 7]],
      ['answer', 'app', 1, ['end', 'node:_http_outgoing', 3, ['writeUtf8', 'native', 2]]],
    ],
  ])
  assert.deepEqual(times(functions), [
    ['hashPassword', 52, 52],
    ['log', 8, 8],
    ['end', 5, 5],
    ['parserOnIncoming', 1, 67],
    ['answer', 1, 6],
  ])
  assert.deepEqual(times(packages), [
    ['logger', 8, 8],
    ['(application)', 53, 58],
    ['(node)', 6, 67],
  ])
})

test('what was sampled during the start does not count', () => {
  // The profile of 9 ms ends at 9.
  const { root } = treeOf(
    [
      ['start', 'app', 4],
      ['serve', 'app', 5],
    ],
    6
  )
  assert.deepEqual(
    root.children.map(({ frame, self }) => [frame.name, self]),
    [
      ['start', 0],
      ['serve', 5],
    ]
  )
})

test('no time at all has shares of 0', () => {
  const { total, functions } = tables([['serve', 'app', 0]])
  assert.equal(total, 0)
  assert.deepEqual([functions[0].selfShare, functions[0].totalShare], [0, 0])
})

describe('route handlers', () => {
  const handlersOf = (...tree) =>
    tables(tree)
      .functions.filter(({ isHandler }) => isHandler)
      .map(({ name }) => name)
      .sort()

  test('of Express: what a route calls, not a middleware, not what a handler calls', () => {
    const helper = ['helper', 'app', 1]
    const handler = ['handler', 'app', 1, helper]
    const route = ['next', 'route', 0, ['handleRequest', 'router', 0, handler]]
    const middleware = ['middleware', 'app', 1, ['next', 'router', 0, ['handleRequest', 'router', 0, route]]]
    assert.deepEqual(handlersOf(['handle', 'router', 0, middleware]), ['handler'])
  })

  test('of Koa: behind other middlewares of the route too', () => {
    const handler = ['handler', 'app', 1]
    const check = ['check', 'app', 1, ['next', 'compose', 0, handler]]
    const router = ['dispatch', 'koaRouter', 0, ['dispatch', 'compose', 0, check]]
    const outer = ['outer', 'app', 1, ['dispatch', 'compose', 0, router]]
    assert.deepEqual(handlersOf(['dispatch', 'compose', 0, outer]), ['check', 'handler'])
  })

  test('of node:http: the listener', () => {
    const listener = ['listener', 'app', 1, ['helper', 'app', 1]]
    const emit = ['emit', 'node:events', 0, listener]
    assert.deepEqual(handlersOf(['parserOnIncoming', 'node:_http_server', 0, emit]), ['listener'])
  })

  test('what is called by a router only where its handler is inlined is none', () => {
    const route = (...callees) => ['next', 'route', 0, ['handleRequest', 'router', 0, ...callees]]
    assert.deepEqual(handlersOf(route(['handler', 'app', 1, ['helper', 'app', 9]], ['helper', 'app', 4])), [
      'handler',
    ])
  })

  test('a timer has none', () => {
    const tick = ['tick', 'app', 1]
    assert.deepEqual(handlersOf(['processTimers', 'node:internal/timers', 0, tick]), [])
    assert.deepEqual(handlersOf(['parserOnIncoming', 'node:_http_server', 1], tick), [])
  })
})

describe('the flame tree', () => {
  const flame = (tree) => flameTree(treeOf(tree).root, 'ms')

  test('merges the calls of one function from one caller, and sorts them', () => {
    const { name, ms, children } = flame([
      ['serve', 'app', 1, ['a', 'app', 2], ['write', 'logger', 9], ['a', 'app', 3, ['write', 'logger', 1]]],
    ])
    assert.deepEqual([name, ms], ['(all)', 16])
    assert.deepEqual(
      children[0].children.map((node) => [node.name, node.ms, node.children.length]),
      [
        ['write', 9, 0],
        ['a', 6, 1],
      ]
    )
    assert.deepEqual(Object.keys(children[0]), ['name', 'file', 'line', 'package', 'ms', 'children'])
  })

  test('leaves out the idle time and what is too small to see', () => {
    const { ms, children } = flame([
      ['serve', 'app', 10_000],
      ['rare', 'logger', 9],
      ['(idle)', 'engine', 50_000],
    ])
    assert.deepEqual([ms, children.map(({ name }) => name)], [10_009, ['serve']])
  })
})

test('pprof has every stack with its time, the innermost function first', async () => {
  const { root } = treeOf([['serve', 'app', 2, ['write', 'logger', 3]]])
  const bytes = await pprofOf(root, 'cpu', { atMs: 1000, durationMs: 5 })
  const {
    sample,
    location,
    function: functions,
    stringTable,
    sampleType,
    timeNanos,
  } = Profile.decode(zlib.gunzipSync(bytes))
  const nameOf = (id) => {
    const at = location.find((each) => each.id === id)
    const found = functions.find((each) => each.id === at?.line[0].functionId)
    return stringTable.strings[Number(found?.name)]
  }
  assert.deepEqual(
    sample.map(({ locationId, value }) => [locationId.map(nameOf), Number(value[0])]),
    [
      [['serve'], 2e6],
      [['write', 'serve'], 3e6],
    ]
  )
  assert.equal(stringTable.strings[Number(sampleType[0].type)], 'cpu')
  assert.equal(BigInt(timeNanos), 1_000_000_000n)
})

test('heap samples are summed by the function that allocates', async () => {
  const frame = (functionName, scriptId) => ({
    functionName,
    scriptId,
    url: url('app.js'),
    lineNumber: 1,
    columnNumber: 0,
  })
  const leaf = { id: 2, callFrame: frame('keep', '7'), children: [] }
  const head = { id: 1, callFrame: { ...frame('(root)', '0'), url: '' }, children: [leaf] }
  const root = heapTree(
    head,
    new CallFrames(),
    [2, 2].map((nodeId, ordinal) => ({ nodeId, size: 100, ordinal }))
  )
  const { functions, total } = tablesOf(root, 'Bytes')
  assert.deepEqual([total, functions[0].name, functions[0].selfBytes], [200, 'keep', 200])
  assert.equal(flameTree(root, 'bytes').bytes, 200)
})

describe('what grew between two readings of one sampler', () => {
  const SAMPLE = 128 * 1024
  const NAMES = ['leak', 'warm', 'churn', 'both']
  const frameOf = (functionName) => ({
    functionName,
    scriptId: '7',
    url: url('app.js'),
    lineNumber: NAMES.indexOf(functionName),
    columnNumber: 0,
  })
  /** A reading with these samples, by function: their numbers. */
  const readingOf = (byName) => ({
    head: {
      id: 1,
      callFrame: { ...frameOf('(root)'), scriptId: '0', url: '' },
      children: NAMES.map((name, i) => ({ id: i + 2, callFrame: frameOf(name), children: [] })),
    },
    samples: Object.entries(byName).flatMap(([name, ordinals]) =>
      ordinals.map((ordinal) => ({ nodeId: NAMES.indexOf(name) + 2, size: SAMPLE, ordinal }))
    ),
  })
  const numbers = (from, to) => Array.from({ length: to - from }, (_, i) => from + i)
  const grown = (earlier, now) =>
    growthOf(readingOf(earlier), readingOf(now), new CallFrames()).map(
      ({ name, growthBytes, beforeBytes, selfBytes }) => [
        name,
        growthBytes / SAMPLE,
        beforeBytes / SAMPLE,
        selfBytes / SAMPLE,
      ]
    )

  test('is what a leak keeps, and neither what a cache kept nor what requests replace', () => {
    const earlier = { leak: numbers(0, 10), warm: numbers(100, 150), churn: numbers(200, 240) }
    const now = { leak: numbers(0, 20), warm: numbers(100, 150), churn: numbers(1200, 1250) }
    assert.deepEqual(grown(earlier, now), [['leak', 10, 10, 20]])
  })

  test('is more than chance where a function replaces what it allocates', () => {
    const earlier = { both: numbers(0, 18), leak: [50] }
    // 18 were replaced: up to 12 more are chance.
    assert.deepEqual(grown(earlier, { both: numbers(1000, 1030), leak: [50, 51] }), [['leak', 1, 1, 2]])
    assert.deepEqual(grown(earlier, { both: numbers(1000, 1031) }), [['both', 13, 18, 31]])
  })

  test('comes with the largest first, and begins with what was not there', () => {
    assert.deepEqual(grown({}, { warm: [1], leak: [2, 3] }), [
      ['leak', 2, 0, 2],
      ['warm', 1, 0, 1],
    ])
  })
})

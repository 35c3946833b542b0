'use strict'
// The options of spillway/register by variables and by a file: each mistake is one sentence with the nearest name, and costs no
// other option.

const assert = require('node:assert/strict')
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const { DEFAULTS, MEMBER_DEFAULTS, RULES } = require('../../src/options/table')
const { VARIABLES, readVariables } = require('../../src/options/variables')
const { Settings } = require('../../src/register/settings')
const { Program, appFile, get } = require('../support/registered')

describe('a variable', () => {
  it('is there for every option that is not a function', () => {
    const names = Object.entries(DEFAULTS).flatMap(([name, value]) =>
      name in RULES ? [name] : Object.keys(/** @type {object} */ (value)).map((key) => `${name}.${key}`)
    )
    const members = ['listen', 'attach'].flatMap((name) =>
      Object.keys(MEMBER_DEFAULTS[name]).map((key) => `${name}.${key}`)
    )
    const settable = new Set([...VARIABLES.values()].map(({ rule }) => rule))
    assert.deepEqual(
      [...names, ...members].filter((name) => !settable.has(name)),
      [
        'endpoints.allow',
        'routes.label',
        'metrics.labels',
        'shed.classify',
        'shed.key',
        'shed.pressure',
        'shed.deadline',
        'shed.headers',
        'shed.respond',
        'registry',
      ]
    )
  })

  for (const [variable, text, group, key, value] of [
    ['SPILLWAY_SHED_MAX_DELAY', '300', 'shed', 'maxDelay', 300],
    ['SPILLWAY_INSIGHT_STALLS', 'false', 'insight', 'stalls', false],
    ['SPILLWAY_METRICS_BUCKETS', '0.1, 1,5', 'metrics', 'buckets', [0.1, 1, 5]],
    ['SPILLWAY_METRICS_BUCKETS', '0.5', 'metrics', 'buckets', [0.5]],
    ['SPILLWAY_LOG_HEADERS', 'x-a,x-b', 'log', 'headers', ['x-a', 'x-b']],
    ['SPILLWAY_ENDPOINTS_METRICS', '/metrics', 'endpoints', 'metrics', '/metrics'],
    ['SPILLWAY_ENDPOINTS_METRICS', 'false', 'endpoints', 'metrics', false],
    ['SPILLWAY_ROUTES_UNMATCHED', '404', 'routes', 'unmatched', '404'],
    ['SPILLWAY_IGNORE', '/healthz,/ping', '', 'ignore', ['/healthz', '/ping']],
    ['SPILLWAY_ADMIN_TOKEN', '1234567890123456', 'admin', 'token', '1234567890123456'],
    ['SPILLWAY_ADMIN_TOKEN', 'with,a,comma,and,16', 'admin', 'token', 'with,a,comma,and,16'],
    ['SPILLWAY_INSIGHT', 'false', '', 'insight', false],
    ['SPILLWAY_FLEET', 'true', '', 'fleet', true],
  ])
    it(`${variable}=${text} is read`, () => {
      const { settings, problems } = readVariables({ [String(variable)]: String(text) })
      assert.deepEqual(problems, [])
      assert.deepEqual(
        settings.map((each) => [each.group, each.key, each.value]),
        [[group, key, value]]
      )
    })

  it('of another program, or an empty one, is none', () => {
    const env = { SPILLWAYS: '1', SPILLWAY_SHED_MODE: '', SPILLWAY_PRIMARY: '1', SPILLWAY_CONFIG: 'x.json' }
    assert.deepEqual(readVariables(env), { settings: [], problems: [] })
  })

  it('that docs/zero-code.md names is there', () => {
    const page = readFileSync(join(__dirname, '../../docs/zero-code.md'), 'utf8')
    const named = [...new Set(page.match(/SPILLWAY_[A-Z_]+[A-Z]/g))]
    assert.ok(named.length >= 10)
    assert.deepEqual(
      named.filter((name) => !VARIABLES.has(name)),
      ['SPILLWAY_CONFIG']
    )
  })

  for (const [variable, sentence] of [
    ['SPILLWAY_SHED_MAXDELAY', 'SPILLWAY_SHED_MAXDELAY is no option. Did you mean SPILLWAY_SHED_MAX_DELAY?'],
    ['SPILLWAY_MAX_DELAY', 'SPILLWAY_MAX_DELAY is no option. Did you mean SPILLWAY_SHED_MAX_DELAY?'],
    ['SPILLWAY_PORT', 'SPILLWAY_PORT is no option. Did you mean SPILLWAY_ADMIN_PORT?'],
    ['SPILLWAY_XYZZY', 'SPILLWAY_XYZZY is no option.'],
    [
      'SPILLWAY_SHED_KEY',
      'SPILLWAY_SHED_KEY cannot be a variable: `shed.key` takes more than text. Give it to createSpillway() in code.',
    ],
  ])
    it(`${variable} is answered with the nearest name`, () => {
      assert.deepEqual(readVariables({ [variable]: '1' }).problems, [sentence])
    })
})

describe('the settings', () => {
  it('keep the paths and the answers of the application, and shed nothing', () => {
    const { options, admin, attach, hasAdmin, hasPort, problems } = new Settings({})
    assert.deepEqual(options.endpoints, { ...DEFAULTS.endpoints, metrics: false, live: false, ready: false })
    assert.equal(options.errors.answer, false)
    assert.equal(options.shed.mode, 'observe')
    assert.deepEqual(admin, MEMBER_DEFAULTS.listen)
    assert.deepEqual([attach.signals, hasAdmin, hasPort, problems], [false, true, false, []])
  })

  it('take the default for an invalid value, name its variable, and show no secret', () => {
    const settings = new Settings({
      SPILLWAY_SHED_MAX_DELAY: 'soon',
      SPILLWAY_SHED_INTERVAL: '700',
      SPILLWAY_ADMIN_TOKEN: 'secret',
    })
    assert.equal(settings.options.shed.maxDelay, 200)
    assert.equal(settings.options.shed.interval, 700)
    assert.deepEqual(settings.problems, [
      "SPILLWAY_SHED_MAX_DELAY: `shed.maxDelay` must be a number of milliseconds above 0: got 'soon' (string). The default is in force.",
      'SPILLWAY_ADMIN_TOKEN: `listen.token` must be at least 16 visible ASCII characters: got a string (not shown). The default is in force.',
    ])
  })

  const withFile = (t, text) => {
    const folder = mkdtempSync(join(tmpdir(), 'spillway-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'spillway.json')
    writeFileSync(file, text)
    return file
  }

  it('come from a file, and variables override it', (t) => {
    const given = {
      shed: { mode: 'adaptive', maxDelay: 300 },
      insight: false,
      admin: { port: 0 },
      attach: { signals: true },
      fleet: { name: 'shop' },
    }
    const file = withFile(t, JSON.stringify(given))
    const { options, admin, attach, problems, hasPort } = new Settings({
      SPILLWAY_CONFIG: file,
      SPILLWAY_SHED_MAX_DELAY: '400',
      SPILLWAY_INSIGHT_DOCTOR: 'true',
    })
    assert.deepEqual(problems, [])
    assert.deepEqual([options.shed.mode, options.shed.maxDelay], ['adaptive', 400])
    assert.deepEqual([options.insight.stalls, options.insight.doctor], [false, true])
    assert.deepEqual(options.fleet, { name: 'shop' })
    assert.deepEqual([admin.port, hasPort, attach.signals], [0, true, true])
  })

  it('leave out what is wrong in a file, and keep the rest', (t) => {
    const file = withFile(t, '{ "shed": { "maxDelya": 1, "interval": 700 }, "sheds": {} }')
    const { options, problems } = new Settings({ SPILLWAY_CONFIG: file })
    assert.equal(options.shed.interval, 700)
    assert.equal(problems.length, 2)
    assert.ok(
      problems[0].startsWith(`${file}: Unknown option \`shed.maxDelya\`. Did you mean \`shed.maxDelay\`?`)
    )
    assert.ok(problems[1].startsWith(`${file}: Unknown option \`sheds\`.`))
  })

  for (const [what, text] of [
    ['is no JSON', '{'],
    ['holds no object', '[]'],
  ])
    it(`are the defaults if the file ${what}`, (t) => {
      const { options, problems } = new Settings({ SPILLWAY_CONFIG: withFile(t, text) })
      assert.equal(options.shed.mode, 'observe')
      assert.equal(problems.length, 1)
      assert.match(problems[0], /^SPILLWAY_CONFIG cannot be read: /)
    })

  it('are the defaults if there is no file', () => {
    const { problems } = new Settings({ SPILLWAY_CONFIG: '/nowhere/spillway.json' })
    assert.match(problems[0], /^SPILLWAY_CONFIG cannot be read: ENOENT/)
  })

  it('are the defaults if two options exclude each other', () => {
    const settings = new Settings({ SPILLWAY_ENDPOINTS_LIVE: '/same', SPILLWAY_ENDPOINTS_READY: '/same' })
    assert.deepEqual([settings.options.endpoints.live, settings.problems.length], [false, 1])
  })
})

it('a process says what is wrong once, and the options in force are those that are right', async (t) => {
  const env = { SPILLWAY_SHED_MODE: 'adaptiv', SPILLWAY_SHED_INTERVAL: '700', SPILLWAY_MODE: 'x' }
  const program = new Program(t, [appFile('http.js')], { env })
  const { shed } = JSON.parse((await get(`${await program.admin()}/config`)).body)
  assert.deepEqual([shed.mode, shed.interval], ['observe', 700])
  assert.equal((await program.end()).code, 3)
  assert.deepEqual(
    program.lines.map(({ level, subject }) => [level, subject]),
    [
      [40, 'option'],
      [40, 'option'],
      [30, undefined],
    ]
  )
})

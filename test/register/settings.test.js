'use strict'
// The options of spillway/register by variables and by a file: each mistake is one sentence with the nearest
// name, and costs no other option.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const { MEMBER_DEFAULTS } = require('../../src/core/options/member-options')
const { DEFAULTS } = require('../../src/core/options/table')
const { Settings } = require('../../src/features/register/settings')
const { Program, appFile, get } = require('../support/registered')

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
      SPILLWAY_SHED_SAMPLE_INTERVAL: '700',
      SPILLWAY_ADMIN_TOKEN: 'secret',
    })
    assert.equal(settings.options.shed.maxDelay, DEFAULTS.shed.maxDelay)
    assert.equal(settings.options.shed.sampleInterval, 700)
    assert.deepEqual(settings.problems, [
      "SPILLWAY_SHED_MAX_DELAY: `shed.maxDelay` must be a number of milliseconds above 0: got 'soon' (string). The default is in force.",
      'SPILLWAY_ADMIN_TOKEN: `listen.token` must be at least 16 visible ASCII characters: got a string (not shown).',
      'The admin server does not start.',
    ])
    assert.equal(settings.hasAdmin, false)
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
    const file = withFile(t, '{ "shed": { "maxDelya": 1, "sampleInterval": 700 }, "sheds": {} }')
    const { options, problems } = new Settings({ SPILLWAY_CONFIG: file })
    assert.equal(options.shed.sampleInterval, 700)
    assert.equal(problems.length, 2)
    assert.ok(
      problems[0].startsWith(`${file}: Unknown option \`shed.maxDelya\`. Did you mean \`shed.maxDelay\`?`)
    )
    assert.ok(problems[1].startsWith(`${file}: Unknown option \`sheds\`.`))
  })

  for (const [what, text] of [
    ['is no JSON', '{'],
    ['does not contain an object', '[]'],
  ])
    it(`are the defaults if the file ${what}`, (t) => {
      const { options, problems } = new Settings({ SPILLWAY_CONFIG: withFile(t, text) })
      assert.equal(options.shed.mode, 'observe')
      assert.match(problems[0], /^SPILLWAY_CONFIG cannot be read: it /)
      assert.deepEqual(problems.slice(1), ['The admin server does not start.'])
      assert.ok(!text.includes('{') || !problems[0].includes(text), 'its text may be a secret')
    })

  it('start no admin server without the token that a mistake may have cost', (t) => {
    const file = withFile(t, '{"admin":{"token":SECRET-token-123}}')
    for (const env of [
      { SPILLWAY_ADMIN_TOKN: 'correct-horse-battery-staple' },
      { SPILLWAY_CONFIG: withFile(t, '{"admin":{"tokn":"correct-horse-battery-staple"}}') },
      { SPILLWAY_CONFIG: file },
      { SPILLWAY_CONFIG: '/dev/zero' },
    ]) {
      const { hasAdmin, isAdminRefused, problems } = new Settings(env)
      assert.deepEqual([hasAdmin, isAdminRefused], [false, true], JSON.stringify(env))
      assert.ok(!problems.join().includes('SECRET'))
    }
  })

  it('are the defaults if there is no file', () => {
    const { problems } = new Settings({ SPILLWAY_CONFIG: '/nowhere/spillway.json' })
    assert.match(problems[0], /^SPILLWAY_CONFIG cannot be read: ENOENT/)
  })

  it('may need each other', () => {
    const { options, problems } = new Settings({
      SPILLWAY_DEADLINE_FORWARD: 'orders.internal',
      SPILLWAY_DEADLINE_HEADER: 'x-request-timeout-ms',
      SPILLWAY_PROXY_REQUEST_START: 'true',
      SPILLWAY_SHED_MAX_AGE: '2000',
    })
    assert.deepEqual(problems, [])
    assert.deepEqual([options.deadline.forward, options.shed.maxAge], [['orders.internal'], 2000])
  })

  it('are the defaults if one needs another that is missing', () => {
    const { options, problems } = new Settings({ SPILLWAY_SHED_MAX_AGE: '2000' })
    assert.equal(options.shed.maxAge, undefined)
    assert.match(problems.join(), /^`shed.maxAge` needs .* The defaults are in force\.$/)
  })

  it('are the defaults if two options exclude each other', () => {
    const settings = new Settings({ SPILLWAY_ENDPOINTS_LIVE: '/same', SPILLWAY_ENDPOINTS_READY: '/same' })
    assert.deepEqual([settings.options.endpoints.live, settings.problems.length], [false, 1])
  })
})

it('a process says what is wrong once, and the options in force are those that are right', async (t) => {
  const env = { SPILLWAY_SHED_MODE: 'adaptiv', SPILLWAY_SHED_SAMPLE_INTERVAL: '700', SPILLWAY_MODE: 'x' }
  const program = new Program(t, [appFile('http.js')], { env })
  const { shed } = JSON.parse((await get(`${await program.admin()}/config`)).body)
  assert.deepEqual([shed.mode, shed.sampleInterval], ['observe', 700])
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

it('a logger that pino refuses costs the logger alone: one warning by the default one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'spillway.json')
  writeFileSync(file, '{ "logger": { "level": "loud" }, "shed": { "sampleInterval": 700 } }')
  const program = new Program(t, [appFile('http.js')], { env: { SPILLWAY_CONFIG: file } })
  const { shed } = JSON.parse((await get(`${await program.admin()}/config`)).body)
  assert.equal(shed.sampleInterval, 700)
  assert.equal((await program.end()).code, 3)
  const [warning, started] = program.lines
  assert.match(warning.msg, /level.*loud.* The default is in force\.$/)
  assert.deepEqual([warning.level, started.level, program.lines.length], [40, 30, 2])
})

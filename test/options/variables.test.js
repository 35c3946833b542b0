'use strict'
// The options as environment variables: one for every option that is not a function, each text read as its
// rule takes it, and the nearest name for one that is none.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const { MEMBER_DEFAULTS } = require('../../src/core/options/member-options')
const { DEFAULTS, RULES } = require('../../src/core/options/table')
const { VARIABLES, readVariables } = require('../../src/core/options/variables')

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
        'shed.shortage',
        'shed.headers',
        'shed.respond',
        'deadline.of',
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
    const env = {
      SPILLWAYS: '1',
      SPILLWAY_SHED_MODE: '',
      SPILLWAY_PRIMARY: '1',
      SPILLWAY_ADMIN_URL: 'http://127.0.0.1:1',
      SPILLWAY_CONFIG: 'x.json',
    }
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
    [
      'SPILLWAY_SHED_MAXDELAY',
      'SPILLWAY_SHED_MAXDELAY is not an option. Did you mean SPILLWAY_SHED_MAX_DELAY?',
    ],
    ['SPILLWAY_MAX_DELAY', 'SPILLWAY_MAX_DELAY is not an option. Did you mean SPILLWAY_SHED_MAX_DELAY?'],
    [
      'SPILLWAY_PORT',
      'SPILLWAY_PORT is not an option. Did you mean SPILLWAY_ADMIN_PORT or SPILLWAY_ADMIN_BLOCKED_PORT?',
    ],
    ['SPILLWAY_XYZZY', 'SPILLWAY_XYZZY is not an option.'],
    [
      'SPILLWAY_SHED_KEY',
      'SPILLWAY_SHED_KEY cannot be set in the environment: `shed.key` takes more than text. Give it to createSpillway() in code.',
    ],
  ])
    it(`${variable} is answered with the nearest name`, () => {
      assert.deepEqual(readVariables({ [variable]: '1' }).problems, [sentence])
    })
})

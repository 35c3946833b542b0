'use strict'
// The alert and recording rules, by Prometheus's own tool: each alert fires where it should, and not where it
// should not.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')

const FOLDER = join(__dirname, '../../examples/grafana')
const promtool = (...args) => spawnSync('promtool', args, { cwd: FOLDER, encoding: 'utf8' })

test('promtool has no finding on the rules', () => {
  const { status, stdout, stderr } = promtool('check', 'rules', 'rules.yml')
  assert.equal(status, 0, stdout + stderr)
})

test('each alert fires where it should, and not where it should not', () => {
  const { status, stdout, stderr } = promtool('test', 'rules', 'rules.test.yml')
  assert.equal(status, 0, stdout + stderr)
  const tests = readFileSync(join(FOLDER, 'rules.test.yml'), 'utf8')
  for (const [, alert] of readFileSync(join(FOLDER, 'rules.yml'), 'utf8').matchAll(/- alert: (\w+)/g)) {
    assert.match(tests, new RegExp(`alertname: ${alert}\\n +exp_alerts:\\n`), `${alert} is tested to fire`)
  }
})

'use strict'
// The dashboard and the rules as files: in step with the script, explained panel by panel, and asking for nothing that
// is not measured. That every expression has an answer is for test/prometheus/dashboard.e2e.js.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { ANNOTATIONS, ROWS } = require('../../examples/grafana/rows')
const { SOURCE, render } = require('../../examples/grafana/dashboard')
const { FAMILIES, LAG_FAMILIES, STANDARD_FAMILIES } = require('../../src/metrics/families')
const { stateFamilies } = require('../../src/fleet/worker-states')

const ROOT = join(__dirname, '../..')
const FOLDER = join(ROOT, 'examples/grafana')
const read = (name) => readFileSync(join(FOLDER, name), 'utf8')

const expressions = [
  ...ROWS.flatMap(({ panels }) => panels.flatMap(({ of }) => of.map(([expression]) => expression))),
  ...ANNOTATIONS.map(({ expression }) => expression),
]
const rules = [...read('rules.yml').matchAll(/^ +expr: (.+)$/gm)].map(([, expression]) => expression)

/** What is measured, with the endings that types have, and what prom-client's default metrics or Prometheus add. */
const MEASURED = new Set([
  ...FAMILIES.flatMap(({ name }) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]),
  ...[...LAG_FAMILIES, ...STANDARD_FAMILIES, ...stateFamilies({})].map(({ name }) => name),
  'nodejs_gc_duration_seconds_sum',
  'nodejs_heap_space_size_used_bytes',
  'up',
])

test('dashboard.json is what npm run dashboard writes', () => {
  assert.equal(read('dashboard.json'), render())
})

test('every panel has a title, a description and a unit, and takes its rates over $__rate_interval', () => {
  for (const panel of JSON.parse(render()).panels.filter(({ type }) => type !== 'row')) {
    assert.match(panel.description, /^[A-Z].+\.$/s, panel.title)
    assert.ok(panel.fieldConfig.defaults.unit, panel.title)
    assert.deepEqual(panel.datasource, SOURCE)
    for (const { expr, refId } of panel.targets) {
      assert.ok(refId)
      for (const [, range] of expr.matchAll(/(?:rate|increase)\([^[]+\[([^\]]+)\]/g)) {
        assert.equal(range, '$__rate_interval', expr)
      }
    }
  }
})

test('every line of a panel has a name in a legend that is shown, and a worker is told from the next', () => {
  for (const panel of JSON.parse(render()).panels.filter(({ type }) => type === 'timeseries')) {
    assert.equal(panel.options.legend.showLegend, true, panel.title)
    assert.equal(panel.options.tooltip.mode, 'multi', panel.title)
    for (const { expr, legendFormat } of panel.targets) {
      assert.ok(legendFormat, panel.title)
      // What is of each process, and not summed up.
      const isOfEach = !/ by \(/.test(expr) && legendFormat.includes('{{instance}}')
      assert.equal(legendFormat.includes('{{worker}}'), isOfEach, `${panel.title}: ${expr}`)
    }
  }
})

test('the axis of a heatmap has its unit, which it does not take from the field', () => {
  for (const { options, fieldConfig } of JSON.parse(render()).panels.filter(
    ({ type }) => type === 'heatmap'
  )) {
    assert.equal(options.yAxis.unit, fieldConfig.defaults.unit)
  }
})

test('a deploy, which is a restart too, is marked over it; and only the last expression of a panel brings exemplars', () => {
  const { annotations, panels } = JSON.parse(render())
  assert.equal(annotations.list.at(-1).name, 'Deploys')
  const withExemplars = panels.flatMap(({ title, targets = [] }) =>
    targets.filter(({ exemplar }) => exemplar).map(({ refId }) => [title, refId])
  )
  assert.deepEqual(withExemplars, [['Duration', 'C']])
})

test('every expression of a panel is of the job and the instances chosen', () => {
  for (const expression of expressions) {
    for (const [, matchers] of expression.matchAll(/\{([^}]*)\}/g)) {
      assert.ok(matchers.startsWith('job=~"$job", instance=~"$instance"'), expression)
    }
  }
})

test('no panel, mark or rule asks for what is not measured', () => {
  for (const expression of [...expressions, ...rules]) {
    const names = expression
      .replace(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)|\b(on|group_left) \([^)]*\)/g, '')
      .match(/[a-z][a-z0-9]*_[a-z0-9_]+(?![a-z0-9_(:])/g)
      ?.filter((name) => !expression.includes(`:${name}`) && !expression.includes(`${name}:`))
    for (const name of names ?? []) {
      if (['histogram_quantile', 'job_route'].includes(name)) continue
      assert.ok(MEASURED.has(name), `${name} in ${expression}`)
    }
  }
})

test('a share of errors has those in it that errors.timeout has answered, as errorRatio of snapshot() does', () => {
  const shares = [...expressions, ...rules].filter((expression) => expression.includes('errored'))
  assert.equal(shares.length, 3)
  for (const expression of shares) assert.match(expression, /outcome=~"errored\|timed_out"/)
})

test('docs/alerts.md has a row for every alert, and the page that its runbook_url opens leads there', () => {
  const page = readFileSync(join(ROOT, 'docs/alerts.md'), 'utf8')
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const alerts = [...read('rules.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  assert.ok(alerts.length >= 7)
  for (const alert of alerts) {
    assert.ok(read('rules.yml').includes(`spillway#${alert.toLowerCase()}`), alert)
    assert.match(page, new RegExp(`^\\| <a id="${alert.toLowerCase()}"></a>\`${alert}\` \\|`, 'm'))
    assert.ok(readme.includes(`<a id="${alert.toLowerCase()}"></a>`), alert)
  }
})

'use strict'
// The dashboard and the rules as files: dashboard.json is up to date, every panel has a description, and
// expressions use measured metrics only. test/prometheus/dashboard.e2e.js tests that every expression has an
// answer.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { NAMES, anyLegend, anyNames } = require('../../examples/grafana/any-names')
const { FLEET_ROWS } = require('../../examples/grafana/fleet-rows')
const { ANNOTATIONS, ROWS } = require('../../examples/grafana/rows')
const { DASHBOARDS, SOURCE, render } = require('../../examples/grafana/dashboard')
const { LAG_FAMILIES, STANDARD_FAMILIES } = require('../../src/core/metrics/families')
const { FAMILIES } = require('../support/families')
const { stateFamilies } = require('../../src/features/fleet/worker-states')

const ROOT = join(__dirname, '../..')
const FOLDER = join(ROOT, 'examples/grafana')
const read = (name) => readFileSync(join(FOLDER, name), 'utf8')

const expressions = [
  ...[...ROWS, ...FLEET_ROWS].flatMap(({ panels }) =>
    panels.flatMap(({ of, columns }) =>
      columns === undefined ? of.map(([expression]) => expression) : columns.map((column) => column.of)
    )
  ),
  ...ANNOTATIONS.map(({ expression }) => expression),
]
const rules = [...read('rules.yml').matchAll(/^ +expr: (.+)$/gm)].map(([, expression]) => expression)

/**
 * The measured metrics with the suffixes of their types, and metrics of prom-client's defaults or Prometheus
 * itself.
 */
const MEASURED = new Set([
  ...FAMILIES.flatMap(({ name }) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]),
  ...[...LAG_FAMILIES, ...STANDARD_FAMILIES, ...stateFamilies({})].map(({ name }) => name),
  'nodejs_gc_duration_seconds_sum',
  'nodejs_heap_space_size_used_bytes',
  'up',
])

const panelsOf = (file) => JSON.parse(render(file)).panels.filter(({ type }) => type !== 'row')
const files = Object.keys(DASHBOARDS)
const panels = files.flatMap(panelsOf)

for (const file of files) {
  test(`${file} is what npm run dashboard writes`, () => {
    assert.equal(read(file), render(file))
  })
}

test('every panel has a title, a description and a unit, and its rates are over $__rate_interval', () => {
  for (const panel of panels) {
    assert.match(panel.description, /^[A-Z].+\.$/s, panel.title)
    if (panel.type !== 'table') assert.ok(panel.fieldConfig.defaults.unit, panel.title)
    assert.deepEqual(panel.datasource, SOURCE)
    for (const { expr, refId } of panel.targets) {
      assert.ok(refId)
      for (const [, range] of expr.matchAll(/(?:rate|increase)\([^[]+\[([^\]]+)\]/g)) {
        assert.equal(range, '$__rate_interval', expr)
      }
    }
  }
})

test('every series of a panel has a legend, and series of single processes name the worker', () => {
  for (const panel of panels.filter(({ type }) => type === 'timeseries')) {
    assert.equal(panel.options.legend.showLegend, true, panel.title)
    assert.equal(panel.options.tooltip.mode, 'multi', panel.title)
    for (const { expr, legendFormat } of panel.targets) {
      assert.ok(legendFormat, panel.title)
      // The series of each process, without a sum.
      const isOfEach = !/ by \(/.test(expr) && legendFormat.includes('{{instance}}')
      assert.equal(legendFormat.includes('{{worker}}'), isOfEach, `${panel.title}: ${expr}`)
    }
  }
})

test('the axis of a heatmap has its own unit, because Grafana does not take it from the field', () => {
  for (const { options, fieldConfig } of panels.filter(({ type }) => type === 'heatmap')) {
    assert.equal(options.yAxis.unit, fieldConfig.defaults.unit)
  }
})

test('deploys are drawn over restarts, and only the last expression of a panel queries exemplars', () => {
  const { annotations, panels } = JSON.parse(render())
  assert.equal(annotations.list.at(-1).name, 'Deploys')
  const withExemplars = panels.flatMap(({ title, targets = [] }) =>
    targets.filter(({ exemplar }) => exemplar).map(({ refId }) => [title, refId])
  )
  assert.deepEqual(withExemplars, [['Duration', 'C']])
})

test('every expression of a panel selects the chosen job and instances', () => {
  for (const expression of expressions) {
    for (const [, matchers] of expression.matchAll(/\{([^}]*)\}/g)) {
      assert.ok(matchers.startsWith('job=~"$job", instance=~"$instance"'), expression)
    }
  }
})

test('panels, annotations and rules use measured metrics only', () => {
  for (const expression of [...expressions, ...rules]) {
    const names = expression
      .replace(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)|\b(on|group_left) \([^)]*\)/g, '')
      .match(/[a-z][a-z0-9]*_[a-z0-9_]+(?![a-z0-9_(:])/g)
      ?.filter((name) => !expression.includes(`:${name}`) && !expression.includes(`${name}:`))
    for (const name of names ?? []) {
      if (['histogram_quantile', 'job_route', 'spillway_version'].includes(name)) continue
      assert.ok(MEASURED.has(name), `${name} in ${expression}`)
    }
  }
})

test('error shares include requests answered by errors.timeout, like errorRatio of snapshot()', () => {
  const shares = [...expressions, ...rules].filter((expression) => expression.includes('errored'))
  assert.equal(shares.length, 4)
  for (const expression of shares) assert.match(expression, /outcome=~"errored\|timed_out"/)
})

test('the table of the fleet: each column has a name, a unit, a value for each instance, and a place', () => {
  const [table] = panelsOf('fleet.json')
  const { overrides } = table.fieldConfig
  const [join, organize] = table.transformations
  assert.deepEqual(join.options, { byField: 'instance', mode: 'outer' })
  for (const { refId, expr, format, instant } of table.targets) {
    const field = `Value #${refId}`
    assert.deepEqual([format, instant], ['table', true])
    assert.match(expr, /\b(by|on) \((job, )?instance|by \(le, instance/, 'one value for each instance')
    const { properties } = overrides.find(({ matcher }) => matcher.options === field)
    const ids = properties.map(({ id }) => id)
    assert.ok(ids.includes('displayName') && ids.includes('unit'), field)
    assert.ok(field in organize.options.indexByName, field)
  }
  const [{ desc, displayName }] = table.options.sortBy
  assert.deepEqual([displayName, desc], ['Pressure', true])
  const { properties } = overrides.find(({ matcher }) => matcher.options === 'Instance')
  assert.match(properties[0].value[0].url, new RegExp(`^/d/${DASHBOARDS['dashboard.json'].uid}\\?`))
})

test('an expression has the names of OpenTelemetry too, with and without units, and both labels', () => {
  const names = (metric) => NAMES.get(metric)
  assert.deepEqual(names('http_server_request_duration_seconds_bucket'), [
    'http_server_request_duration_seconds_bucket',
    'http_server_request_duration_bucket',
  ])
  assert.deepEqual(names('spillway_response_first_byte_seconds_sum'), [
    'spillway_response_first_byte_seconds_sum',
    'spillway_response_first_byte_sum_total',
    'spillway_response_first_byte_sum_seconds_total',
  ])
  assert.deepEqual(names('nodejs_eventloop_utilization_ratio')[1], 'nodejs_eventloop_utilization')
  assert.deepEqual(names('spillway_pressure_ratio'), ['spillway_pressure_ratio'])
  assert.equal(
    anyNames(
      'sum by (outcome, job) (rate(spillway_overloaded_seconds_total{job="a", outcome!="b", http_route="/"}[5m]))'
    ),
    'sum by (outcome, spillway_outcome, job) (rate({__name__=~"spillway_overloaded_seconds_total|spillway_overloaded_total", job="a", outcome!="b", spillway_outcome!="b", http_route="/"}[5m]))'
  )
  assert.equal(
    anyNames('spillway_requests_total{outcome=~"a|b"}'),
    'spillway_requests_total{outcome=~"|a|b", spillway_outcome=~"|a|b"}'
  )
  assert.equal(anyLegend('{{instance}} {{reason}}'), '{{instance}} {{reason}}{{spillway_reason}}')
})

test('the panels of queries show operation and collection, by the names of Prometheus and of OpenTelemetry', () => {
  const queries = panelsOf('dashboard.json').filter(({ title }) => /quer/i.test(title))
  assert.deepEqual(
    queries.map(({ title, fieldConfig }) => [title, fieldConfig.defaults.unit]),
    [
      ['Queries', 'ops'],
      ['Duration of queries', 's'],
      ['Connections by query', 'short'],
    ]
  )
  for (const [i, part] of ['_count', '_bucket', '_sum'].entries()) {
    const [{ expr, legendFormat }] = queries[i].targets
    const names = `db_client_operation_duration_seconds${part}|db_client_operation_duration${part}`
    assert.ok(expr.includes(`{__name__=~"${names}", job=~"$job"`), expr)
    assert.match(expr, /by \((le, )?db_client_connection_pool_name, db_operation_name, db_collection_name\)/)
    assert.match(legendFormat, /\{\{db_operation_name\}\} \{\{db_collection_name\}\}$/)
  }
})

test('no two metrics share a name, or an expression would add both', () => {
  const owners = new Map()
  for (const [metric, names] of NAMES)
    for (const name of names) {
      assert.equal(owners.get(name) ?? metric, metric, name)
      owners.set(name, metric)
    }
})

test('the runbook_url of every alert is the row of a page in the package', () => {
  const page = readFileSync(join(ROOT, 'docs/alerts.md'), 'utf8')
  const alerts = [...read('rules.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  assert.ok(alerts.length >= 7)
  for (const alert of alerts) {
    const url = `runbook_url: node_modules/spillway/docs/alerts.md#${alert.toLowerCase()}\n`
    assert.ok(read('rules.yml').includes(url), alert)
    assert.match(page, new RegExp(`^\\| <a id="${alert.toLowerCase()}"></a>\`${alert}\` \\|`, 'm'))
  }
})

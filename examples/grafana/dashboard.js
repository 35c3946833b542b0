'use strict'
// npm run dashboard: writes dashboard.json from rows.js, and fleet.json from fleet-rows.js, in the Classic
// schema that Grafana 10 to 13 import. any-names.js adds the names that OpenTelemetry's exporters give.

const fs = require('node:fs')
const path = require('node:path')
const {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} = require('@grafana/grafana-foundation-sdk/dashboard')
const common = require('@grafana/grafana-foundation-sdk/common')
const heatmap = require('@grafana/grafana-foundation-sdk/heatmap')
const { DataqueryBuilder, PromQueryFormat } = require('@grafana/grafana-foundation-sdk/prometheus')
const timeseries = require('@grafana/grafana-foundation-sdk/timeseries')
const { anyLegend, anyNames } = require('./any-names')
const { FLEET_ROWS } = require('./fleet-rows')
const { ANNOTATIONS, ROWS } = require('./rows')
const { tableOf } = require('./table')

// Newer versions of Grafana migrate an older schema on import; older versions do not import a newer schema.
const GRAFANA_10_SCHEMA = 38
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana fills it in.
const SOURCE = { type: 'prometheus', uid: '${datasource}' }
const MIN_TOP = { percentunit: 0.01, reqps: 1 }
const COLUMNS = 24
const ABREAST = 3
const HEIGHT = 8
const TABLE_HEIGHT = 14

const variable = (name, query, all = '.+') =>
  new QueryVariableBuilder(name)
    .datasource(SOURCE)
    .query(query)
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .allValue(all)
    .current({ selected: true, text: 'All', value: '$__all' })

const LEGEND = new common.VizLegendOptionsBuilder()
  .showLegend(true)
  .displayMode(common.LegendDisplayMode.List)
  .placement(common.LegendPlacement.Bottom)
  .calcs([])
const TOOLTIP = new common.VizTooltipOptionsBuilder()
  .mode(common.TooltipDisplayMode.Multi)
  .sort(common.SortOrder.Descending)

const STACKED = new common.StackingConfigBuilder().mode(common.StackingMode.Normal)

function panelOf(panel, id) {
  const builder = panel.kind === 'table' ? tableOf(panel, SOURCE) : graphOf(panel)
  builder.id(id).title(panel.title).description(panel.description).datasource(SOURCE)
  return panel.kind === 'table'
    ? builder.span(COLUMNS).height(TABLE_HEIGHT)
    : builder.span(COLUMNS / ABREAST).height(HEIGHT)
}

function graphOf({ unit, kind, of, decimals, exemplars = false, stacked = false }) {
  const Builder = kind === 'heatmap' ? heatmap.PanelBuilder : timeseries.PanelBuilder
  const panel = new Builder().unit(unit)
  // By default the builders show no legend, and no unit on the axis of a heatmap.
  if (kind === 'heatmap') panel.yAxis(new heatmap.YAxisConfigBuilder().unit(unit))
  else {
    panel.legend(LEGEND).tooltip(TOOLTIP)
    // If all values are zero, Grafana draws an axis up to 100, which is 10000 % for a share.
    const top = decimals === 0 ? 1 : MIN_TOP[unit]
    if (top !== undefined) panel.axisSoftMax(top)
    panel.axisSoftMin(0)
    if (stacked) panel.stacking(STACKED).fillOpacity(30)
    if (decimals !== undefined) panel.decimals(decimals)
  }
  for (const [index, [expression, legend]] of of.entries()) {
    const query = new DataqueryBuilder().datasource(SOURCE).expr(anyNames(expression)).range()
    query.legendFormat(anyLegend(legend)).refId(String.fromCharCode(65 + index))
    // On the last expression only: every expression would show the same exemplars.
    query.exemplar(exemplars && index === of.length - 1)
    if (kind === 'heatmap') query.format(PromQueryFormat.Heatmap)
    panel.withTarget(query)
  }
  return panel
}

const annotationOf = ({ name, expression, title, color }) =>
  new AnnotationQueryBuilder()
    .name(name)
    .datasource(SOURCE)
    .enable(true)
    .iconColor(color)
    .expr(anyNames(expression))
    .titleFormat(anyLegend(title))
    .step('15s')

const OF_JOB = [
  variable('job', 'label_values(spillway_admitted_requests_total, job)'),
  variable('instance', 'label_values(spillway_admitted_requests_total{job=~"$job"}, instance)'),
]

/** By file. */
const DASHBOARDS = {
  'dashboard.json': {
    title: 'Spillway',
    uid: 'spillway',
    description: 'Traffic, overload, runtime, deploys and fleet of Node servers measured by spillway.',
    rows: ROWS,
    variables: [
      ...OF_JOB,
      // OpenTelemetry gives no route to requests that no route matched.
      variable(
        'route',
        'label_values(spillway_requests_total{job=~"$job", instance=~"$instance"}, http_route)',
        '.*'
      ),
    ],
  },
  'fleet.json': {
    title: 'Spillway fleet',
    uid: 'spillway-fleet',
    description: 'All instances of a service side by side: pressure, rejected requests, p99 and release.',
    rows: FLEET_ROWS,
    variables: OF_JOB,
  },
}

function build({ title, uid, description, rows, variables }) {
  const dashboard = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags(['node', 'spillway'])
    .refresh('30s')
    .time({ from: 'now-1h', to: 'now' })
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
  for (const each of variables) dashboard.withVariable(each)
  for (const annotation of ANNOTATIONS) dashboard.annotation(annotationOf(annotation))
  let id = 1
  for (const { title: row, panels } of rows) {
    dashboard.withRow(new RowBuilder(row).id(id++))
    for (const panel of panels) dashboard.withPanel(panelOf(panel, id++))
  }
  return { ...dashboard.build(), schemaVersion: GRAFANA_10_SCHEMA }
}

/** @param {keyof typeof DASHBOARDS} file */
const render = (file = 'dashboard.json') => `${JSON.stringify(build(DASHBOARDS[file]), null, 2)}\n`

function main([flag]) {
  const files = Object.keys(DASHBOARDS)
  const folder = path.relative(process.cwd(), __dirname)
  if (flag !== undefined) {
    process.stdout.write(
      `npm run dashboard\n\nWrites ${files.join(' and ')} in ${folder} from rows.js and fleet-rows.js. A test fails if a file is not up to date.\n`
    )
    return
  }
  for (const file of files) {
    fs.writeFileSync(path.join(__dirname, file), render(file))
    process.stdout.write(`wrote ${path.join(folder, file)}\n`)
  }
}

if (require.main === module) main(process.argv.slice(2))

module.exports = { DASHBOARDS, SOURCE, render }

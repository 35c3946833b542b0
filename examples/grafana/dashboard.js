'use strict'
// npm run dashboard: writes dashboard.json beside this file from rows.js, in the Classic schema that Grafana
// 10 to 13 import.

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
const { ANNOTATIONS, ROWS } = require('./rows')

const FILE = path.join(__dirname, 'dashboard.json')
// Newer versions of Grafana migrate an older schema on import; older versions do not import a newer schema.
const GRAFANA_10_SCHEMA = 38
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana fills it in.
const SOURCE = { type: 'prometheus', uid: '${datasource}' }
const LEAST_TOP = { percentunit: 0.01, reqps: 1 }
const COLUMNS = 24
const ABREAST = 3
const HEIGHT = 8

const variable = (name, query) =>
  new QueryVariableBuilder(name)
    .datasource(SOURCE)
    .query(query)
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .allValue('.+')
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

function panelOf({ title, description, unit, kind, of, decimals, exemplars = false, stacked = false }, id) {
  const Builder = kind === 'heatmap' ? heatmap.PanelBuilder : timeseries.PanelBuilder
  const panel = new Builder().id(id).title(title).description(description).unit(unit).datasource(SOURCE)
  panel.span(COLUMNS / ABREAST).height(HEIGHT)
  // By default the builders show no legend, and no unit on the axis of a heatmap.
  if (kind === 'heatmap') panel.yAxis(new heatmap.YAxisConfigBuilder().unit(unit))
  else {
    panel.legend(LEGEND).tooltip(TOOLTIP)
    // If all values are zero, Grafana draws an axis up to 100, which is 10000 % for a share.
    const top = decimals === 0 ? 1 : LEAST_TOP[unit]
    if (top !== undefined) panel.axisSoftMax(top)
    panel.axisSoftMin(0)
    if (stacked) panel.stacking(STACKED).fillOpacity(30)
    if (decimals !== undefined) panel.decimals(decimals)
  }
  for (const [index, [expression, legend]] of of.entries()) {
    const query = new DataqueryBuilder().datasource(SOURCE).expr(expression).legendFormat(legend).range()
    query.refId(String.fromCharCode(65 + index))
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
    .expr(expression)
    .titleFormat(title)
    .step('15s')

function build() {
  const dashboard = new DashboardBuilder('Spillway')
    .uid('spillway')
    .description('Traffic, overload, runtime, deploys and fleet of Node servers measured by spillway.')
    .tags(['node', 'spillway'])
    .refresh('30s')
    .time({ from: 'now-1h', to: 'now' })
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(variable('job', 'label_values(spillway_admitted_requests_total, job)'))
    .withVariable(
      variable('instance', 'label_values(spillway_admitted_requests_total{job=~"$job"}, instance)')
    )
    .withVariable(
      variable(
        'route',
        'label_values(spillway_requests_total{job=~"$job", instance=~"$instance"}, http_route)'
      )
    )
  for (const annotation of ANNOTATIONS) dashboard.annotation(annotationOf(annotation))
  let id = 1
  for (const { title, panels } of ROWS) {
    dashboard.withRow(new RowBuilder(title).id(id++))
    for (const panel of panels) dashboard.withPanel(panelOf(panel, id++))
  }
  return { ...dashboard.build(), schemaVersion: GRAFANA_10_SCHEMA }
}

const render = () => `${JSON.stringify(build(), null, 2)}\n`

function main([flag]) {
  const file = path.relative(process.cwd(), FILE)
  if (flag !== undefined) {
    process.stdout.write(
      `npm run dashboard\n\nWrites ${file} from rows.js. A test fails if the file is not up to date.\n`
    )
    return
  }
  fs.writeFileSync(FILE, render())
  process.stdout.write(`wrote ${file}\n`)
}

if (require.main === module) main(process.argv.slice(2))

module.exports = { SOURCE, render }

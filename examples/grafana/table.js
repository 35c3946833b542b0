'use strict'
// A panel that is a table: each column is an expression with one value for each instance.

const common = require('@grafana/grafana-foundation-sdk/common')
const { DataqueryBuilder, PromQueryFormat } = require('@grafana/grafana-foundation-sdk/prometheus')
const table = require('@grafana/grafana-foundation-sdk/table')
const { anyNames } = require('./any-names')

const INSTANCE = 'instance'
const refIdOf = (index) => String.fromCharCode(65 + index)
/** The value of a column, as Grafana names it. */
const fieldOf = (index) => `Value #${refIdOf(index)}`

/** Grafana fills in the last part of both. */
const LINK = {
  title: 'Open the dashboard of this instance',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana fills it in.
  url: '/d/spillway?var-instance=${__value.text}&${job:queryparam}&${datasource:queryparam}&${__url_time_range}',
}

/** @param {{ warn?: number, bad?: number }} column */
function stepsOf({ warn, bad }) {
  const steps = [{ value: null, color: 'transparent' }]
  if (warn !== undefined) steps.push({ value: warn, color: 'yellow' })
  if (bad !== undefined) steps.push({ value: bad, color: 'red' })
  return { mode: 'absolute', steps }
}

/** @param {any} column @param {number} index */
function overrideOf({ title, unit, decimals, ...bounds }, index) {
  const properties = [
    { id: 'displayName', value: title },
    { id: 'unit', value: unit },
  ]
  if (decimals !== undefined) properties.push({ id: 'decimals', value: decimals })
  if (bounds.warn !== undefined)
    properties.push(
      { id: 'custom.cellOptions', value: { type: 'color-background', mode: 'basic' } },
      { id: 'thresholds', value: stepsOf(bounds) }
    )
  return [fieldOf(index), properties]
}

/** The tables of all columns side by side, without the times of each. @param {any[]} columns */
function transformationsOf(columns) {
  const labels = columns.flatMap(({ label }) => (label === undefined ? [] : [label]))
  const order = [
    INSTANCE,
    ...labels.map((label) => label.toLowerCase()),
    ...columns.map((_, i) => fieldOf(i)),
  ]
  return [
    { id: 'joinByField', options: { byField: INSTANCE, mode: 'outer' } },
    {
      id: 'organize',
      options: {
        excludeByName: Object.fromEntries(
          ['Time', ...columns.map((_, i) => `Time ${i + 1}`)].map((name) => [name, true])
        ),
        indexByName: Object.fromEntries(order.map((name, i) => [name, i])),
        renameByName: Object.fromEntries([
          [INSTANCE, 'Instance'],
          ...labels.map((label) => [label.toLowerCase(), label]),
        ]),
      },
    },
  ]
}

/** @param {{ columns: any[] }} panel @param {{ uid: string, type: string }} source */
function tableOf({ columns }, source) {
  const builder = new table.PanelBuilder().cellHeight(common.TableCellHeight.Sm)
  for (const [index, column] of columns.entries()) {
    const query = new DataqueryBuilder().datasource(source).expr(anyNames(column.of)).refId(refIdOf(index))
    builder.withTarget(query.instant().format(PromQueryFormat.Table).legendFormat(''))
    builder.overrideByName(...overrideOf(column, index))
  }
  builder.overrideByName('Instance', [{ id: 'links', value: [LINK] }])
  builder.transformations(transformationsOf(columns))
  builder.sortBy([new common.TableSortByFieldStateBuilder().displayName(columns[0].title).desc(true)])
  return builder
}

module.exports = { tableOf }

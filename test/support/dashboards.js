'use strict'
// The expressions of the dashboards as Grafana sends them to Prometheus: with every variable at "All".

const { render } = require('../../examples/grafana/dashboard')

/** Of a mark: longer than the target has been there. */
const INTERVAL = '5m'

/** @param {string} expression */
const filledIn = (expression) =>
  expression
    .replace(/\$(job|instance)\b/g, '.+')
    .replace(/\$route\b/g, '.*')
    .replaceAll('[$__rate_interval]', '[5m]')
    .replaceAll('$__interval', INTERVAL)

/** @param {Parameters<typeof render>[0]} file @returns {[title: string, expression: string][]} */
const panelsOf = (file) =>
  JSON.parse(render(file)).panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [title, filledIn(expr)])
  )

/** A restart does not happen in most tests. @param {Parameters<typeof render>[0]} file */
const marksOf = (file) =>
  JSON.parse(render(file))
    .annotations.list.filter(({ name }) => name !== 'Restarts')
    .map(({ name, expr }) => [name, filledIn(expr)])

/** By title, the columns of the fleet's table: the expression of each, and the label that is a column too. */
const columnsOf = () => {
  const [, { fieldConfig, targets }] = JSON.parse(render('fleet.json')).panels
  return targets.map(({ refId, expr }) => {
    const { properties } = fieldConfig.overrides.find(({ matcher }) => matcher.options === `Value #${refId}`)
    return [properties.find(({ id }) => id === 'displayName').value, filledIn(expr)]
  })
}

/** No connection is refused while the loop has room for it, and an event that fails would end the process. */
const NOTHING_YET = /spillway_socket_connections_refused_total|spillway_socket_events_total.*outcome!=/

module.exports = { NOTHING_YET, columnsOf, filledIn, marksOf, panelsOf }

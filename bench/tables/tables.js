'use strict'
// The tables by the names of their marks.

const { accessLogTable } = require('./access-log')
const { benchesTable } = require('./benches')
const { autoscalingTable } = require('./autoscaling')
const { balancersTable, brownoutTable } = require('./brownout')
const { chatTable } = require('./chat')
const { connectionsTable } = require('./connections')
const { errorsTable } = require('./errors')
const { gatewaysTable } = require('./gateways')
const { hangTable } = require('./hang')
const { healthyTable, loadsTable } = require('./healthy')
const { loopTimeTable } = require('./loop-time')
const { featuresTable, overheadTable } = require('./overhead')
const { poolsTable } = require('./pools')
const { overloadTable, settledTable, worksTable } = require('./overload')
const { fleetTable, scrapeFloodTable, scrapeTable } = require('./scrape')
const { servicesShortTable, servicesTable } = require('./services')
const { costSentence, summaryTable } = require('./short')
const { startTable } = require('./start')

/** @type {Record<string, () => string>} */
const TABLES = {
  summary: summaryTable,
  loads: loadsTable,
  cost: costSentence,
  overload: overloadTable,
  works: worksTable,
  settled: settledTable,
  connections: connectionsTable,
  gateways: gatewaysTable,
  hang: hangTable,
  healthy: healthyTable,
  services: servicesTable,
  'services-short': servicesShortTable,
  overhead: overheadTable,
  features: featuresTable,
  start: startTable,
  'access-log': accessLogTable,
  errors: errorsTable,
  scrape: scrapeTable,
  'scrape-flood': scrapeFloodTable,
  chat: chatTable,
  pools: poolsTable,
  autoscaling: autoscalingTable,
  brownout: brownoutTable,
  balancers: balancersTable,
  'loop-time': loopTimeTable,
  fleet: fleetTable,
  benches: benchesTable,
}

module.exports = { TABLES }

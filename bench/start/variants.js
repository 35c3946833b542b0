'use strict'
// What an application is started with, and the package that each variant measures.

const { hasPeer, peer } = require('../support/peers')

/**
 * @typedef {object} Variant
 * @property {string} [over] the variant that it adds to
 * @property {() => any} [framework] loads Express, before the package is measured
 * @property {string} [package]
 * @property {() => any} [load] loads the package
 * @property {(loaded: any, app: any, server: import('node:http').Server) => void} [setUp] absent if nothing
 *   listens
 */

const BASE = 'http'
const EXPRESS = 'express'
const PROM_BUNDLE = 'express + express-prom-bundle'
const SPILLWAY = 'express + spillway'

const loadExpress = () => require('express')
const loadSpillway = () => require('../../src/index.js')

/** @type {Record<string, Variant>} */
const ALL = {
  [BASE]: { setUp: () => {} },
  [EXPRESS]: { over: BASE, package: 'express', load: loadExpress, setUp: () => {} },
  'express + prom-client': {
    over: EXPRESS,
    framework: loadExpress,
    package: 'prom-client',
    load: () => require('prom-client'),
    setUp: ({ collectDefaultMetrics }) => collectDefaultMetrics(),
  },
  [PROM_BUNDLE]: {
    over: EXPRESS,
    // Both share what they depend on, as in an application.
    framework: () => peer('express'),
    package: 'express-prom-bundle',
    load: () => peer('express-prom-bundle'),
    setUp: (bundle, app) =>
      app.use(bundle({ includeMethod: true, includePath: true, promClient: { collectDefaultMetrics: {} } })),
  },
  [SPILLWAY]: {
    over: EXPRESS,
    framework: loadExpress,
    package: 'spillway',
    load: loadSpillway,
    setUp({ createSpillway }, app, server) {
      const spillway = createSpillway()
      app.use(spillway.express())
      spillway.attach(server)
    },
  },
  "require('spillway')": { package: 'spillway', load: loadSpillway },
}

const hasBundle = hasPeer('express-prom-bundle')
const VARIANTS = Object.fromEntries(Object.entries(ALL).filter(([name]) => hasBundle || name !== PROM_BUNDLE))

module.exports = { PROM_BUNDLE, SPILLWAY, VARIANTS, hasBundle }

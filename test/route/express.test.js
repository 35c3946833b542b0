'use strict'
// The route label is exact, in every Express and every way to put spillway in. One table of router trees, in
// ./trees; test/route/oracle.test.js checks the same table against what the router itself reports.

const { describe, it } = require('node:test')
const { EXPRESSES, MODES, runCase } = require('../support/router-trees')
const { endings } = require('./trees/endings')
const { errors } = require('./trees/errors')
const { interruptions } = require('./trees/interruptions')
const { mountPaths } = require('./trees/mount-paths')
const { mounts } = require('./trees/mounts')
const { paths } = require('./trees/paths')

/** `attach` and `wrap` enter by the same code, which knows nothing of routers: `wrap` needs one Express. */
const isNeeded = (version, mode) => mode !== 'wrap(app)' || version === '5'

for (const [version, name] of Object.entries(EXPRESSES)) {
  for (const mode of Object.keys(MODES).filter((each) => isNeeded(version, each))) {
    describe(`the route label of ${name} with ${mode}`, () => {
      for (const of of [...mounts, ...mountPaths, ...paths, ...endings, ...interruptions, ...errors]) {
        if (of.only !== undefined && !of.only.map(String).includes(version)) continue
        it(of.title, (t) => runCase(t, { version, mode, of }))
      }
    })
  }
}

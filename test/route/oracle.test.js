'use strict'
// The same table as express.test.js, judged by router 2.3's own tracing channel. Where the two differ the
// case says why, as `oracle: { target: reason }`, and must differ: a reason that holds no longer is an error
// too.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { listenFor, oracleLabel } = require('../support/router-oracle')
const { runCase } = require('../support/router-trees')
const { endings } = require('./trees/endings')
const { errors } = require('./trees/errors')
const { interruptions } = require('./trees/interruptions')
const { mountPaths } = require('./trees/mount-paths')
const { mounts } = require('./trees/mounts')
const { paths } = require('./trees/paths')

describe('the route label is what the tracing channel of router 2.3 says', () => {
  for (const of of [...mounts, ...mountPaths, ...paths, ...endings, ...interruptions, ...errors]) {
    if (of.only !== undefined && !of.only.includes(5)) continue
    it(of.title, async (t) => {
      listenFor(t)
      const reasons = of.oracle ?? {}
      const explained = new Set()
      const unexplained = []
      const onLabel = ({ req, template }) => {
        const target = `${req.method} ${req.originalUrl}`
        const said = oracleLabel(req)
        if (said === template) return
        if (target in reasons) explained.add(target)
        else unexplained.push({ target, said, template })
      }
      await runCase(t, { version: '5', mode: 'express()', of, onLabel })
      assert.deepEqual(unexplained, [])
      assert.deepEqual([...explained].sort(), Object.keys(reasons).sort(), 'a reason that is none any more')
    })
  }
})

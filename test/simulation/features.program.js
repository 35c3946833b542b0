'use strict'
// The invariants with features, all of them: invariants.test.js has a sample. They take a minute of one
// core.

const { testInvariants } = require('./invariants')

testInvariants({ hasFeatures: true })

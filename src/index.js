'use strict'
// The public names. Shorthand only: that is what lets ESM users import them by name.

const { OverloadError, SpillwayError } = require('./errors')
const { Spillway } = require('./spillway')

/** @param {import('../index.js').SpillwayOptions} [options] */
const createSpillway = (options) => new Spillway(options)

module.exports = { createSpillway, OverloadError, SpillwayError }

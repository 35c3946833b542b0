'use strict'
// Every metric family: the core's, and those of each feature by itself.

const { FAMILIES: CORE } = require('../../src/core/metrics/families')
const { Features } = require('../../src/core/features')
const { FEATURES } = require('../../src/feature-list')

const FAMILIES = [...CORE, ...new Features(FEATURES, {}, /** @type {any} */ (undefined)).families()]

module.exports = { FAMILIES }

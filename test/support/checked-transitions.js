'use strict'
// Whoever requires this has every illegal transition of a request throw, in this process.

const { checkTransitions } = require('../../src/core/request/request-record')

checkTransitions(true)

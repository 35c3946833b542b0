'use strict'
// The page `/doctor`: the diagnosis as JSON, or as text where the client prefers text, as
// `curl -H 'Accept: text/plain'` does.

const { textOf } = require('../doctor/diagnosis-text')
const { JSON_TYPE, dataHandler } = require('../../core/http/endpoints')

/** @import { Diagnosis, Handler } from '../../../index.js' */

const TEXT_TYPE = 'text/plain; charset=utf-8'

/**
 * @param {() => Diagnosis} diagnose
 * @returns {Handler}
 */
function doctorPage(diagnose) {
  const json = dataHandler(JSON_TYPE, () => JSON.stringify(diagnose()))
  const text = dataHandler(TEXT_TYPE, () => textOf(diagnose()))
  return (req, res) => (prefersText(req.headers.accept) ? text : json)(req, res)
}

/**
 * Whether the client lists text before JSON. A client that accepts anything, such as curl without options,
 * gets JSON.
 */
function prefersText(accept = '') {
  const types = accept.split(',').map((each) => each.split(';')[0].trim().toLowerCase())
  const text = types.findIndex((type) => type === 'text/plain' || type === 'text/*')
  const json = types.indexOf('application/json')
  return text !== -1 && (json === -1 || text < json)
}

module.exports = { doctorPage }

'use strict'
// The page `/routes/heat`: the latencies of one route over the last ten minutes. The live page asks for it while the route is open, so
// that nothing is made or sent for routes that nobody looks at.

const { urlPath } = require('../../core/url-path')
const { JSON_TYPE, dataHandler, readOnly } = require('../../core/http/endpoints')
const { sendText } = require('./profile-answers')

/**
 * @import { Handler } from '../../../index.js'
 * @import { LatencyHeat } from './latency-heat'
 */

const UNKNOWN = 'There is no such route. Give ?method=GET&route=/users/:id as /snapshot has them.'

/**
 * @param {LatencyHeat} heat
 * @returns {Handler}
 */
function heatPage(heat) {
  return readOnly((req, res) => {
    const { url = '' } = req
    const query = new URLSearchParams(url.slice(urlPath(url).length))
    const map = heat.read(query.get('method'), query.get('route'))
    if (map === undefined) return sendText(res, { status: 404, text: UNKNOWN })
    return dataHandler(JSON_TYPE, () => JSON.stringify(map))(req, res)
  })
}

module.exports = { heatPage }

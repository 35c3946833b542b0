'use strict'
// The template of a Restify request: the route its router found. There is none in `pre`, on 404, 405 or a shed.

function restifyTemplate(req) {
  const path = req.getRoute()?.path
  return path === undefined ? undefined : String(path)
}

module.exports = { restifyTemplate }

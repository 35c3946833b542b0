'use strict'
// OpenTelemetry's API, which is loaded once an SDK is registered: without one there is nothing to ask it.

/** @type {typeof import('@opentelemetry/api') | undefined} */
let api

function loadApi() {
  api ??= require('@opentelemetry/api')
  return api
}

module.exports = { loadApi }

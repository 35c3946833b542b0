'use strict'
// The async context of a request that waits, kept so that AsyncLocalStorage and OpenTelemetry are the same in its handler.
// Only of one that waits: on Node 20 a snapshot of it for each would cost 7.8 µs.

const { AsyncResource } = require('node:async_hooks')

function keepContext(request) {
  request.resource = new AsyncResource('spillway.queue')
}

function resumeInContext(request) {
  const { resource } = request
  request.resource = undefined
  try {
    resource.runInAsyncScope(request.resume, request)
  } catch (error) {
    // As it would be without us: an error that nobody caught. But not in the middle of our batch.
    process.nextTick(() => {
      throw error
    })
  }
}

module.exports = { keepContext, resumeInContext }

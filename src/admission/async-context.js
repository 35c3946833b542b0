'use strict'
// The async context of a request that waits, kept so that AsyncLocalStorage and OpenTelemetry are the same in its handler.
// Only of one that waits: on Node 20 a snapshot of it for each would cost 7.8 µs.

const { AsyncResource } = require('node:async_hooks')

function keepContext(request) {
  request.resource = new AsyncResource('spillway.queue')
}

/** For what is called of the user's where a request that waited is turned away. */
function inItsContext(request, callback) {
  const { resource } = request
  request.resource = undefined
  resource.runInAsyncScope(callback, request)
}

function resumeInContext(request) {
  try {
    inItsContext(request, request.resume)
  } catch (error) {
    // As it would be without us: an error that nobody caught. But not in the middle of our batch.
    process.nextTick(() => {
      throw error
    })
  }
}

module.exports = { inItsContext, keepContext, resumeInContext }

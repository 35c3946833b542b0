'use strict'
// Finds the OpenTelemetry SDK of this process, and loads the API. The application may use another copy of the
// API, and a newer copy does not see what an older copy registered. So the SDK is read from the global that
// all versions of the API register in.

const kRegistered = Symbol.for('opentelemetry.js.api.1')

/** @import { ContextManager, MeterProvider } from '@opentelemetry/api' */

/** @typedef {{ context?: ContextManager, metrics?: MeterProvider }} RegisteredSdk */

/** @returns {RegisteredSdk | undefined} */
const registeredSdk = () => /** @type {{ [kRegistered]?: RegisteredSdk }} */ (globalThis)[kRegistered]

/** @type {typeof import('@opentelemetry/api') | undefined} */
let api

/**
 * Loads the API. Called only if an SDK is registered, because without an SDK the API has nothing to return.
 */
function loadApi() {
  api ??= require('@opentelemetry/api')
  return api
}

module.exports = { loadApi, registeredSdk }

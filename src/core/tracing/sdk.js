'use strict'
// The OpenTelemetry SDK of this process, and the API to ask it with. The application may use another copy of
// the API, and a newer copy does not see what an older one registered. The global that both register in has
// one name in all versions.

const kRegistered = Symbol.for('opentelemetry.js.api.1')

/** @import { ContextManager, MeterProvider } from '@opentelemetry/api' */

/** @typedef {{ context?: ContextManager, metrics?: MeterProvider }} RegisteredSdk */

/** @returns {RegisteredSdk | undefined} */
const registeredSdk = () => /** @type {{ [kRegistered]?: RegisteredSdk }} */ (globalThis)[kRegistered]

/** @type {typeof import('@opentelemetry/api') | undefined} */
let api

/** Loaded once an SDK is registered: without one there is nothing to ask. */
function loadApi() {
  api ??= require('@opentelemetry/api')
  return api
}

module.exports = { loadApi, registeredSdk }

'use strict'
// What an OpenTelemetry SDK has registered in this process. Our copy of the API may not be the application's, and an older
// copy is not asked by a newer one; but what is registered is kept under names that all versions share.

const kRegistered = Symbol.for('opentelemetry.js.api.1')

/** @returns {{ context?: any, metrics?: import('@opentelemetry/api').MeterProvider } | undefined} */
const registeredSdk = () => globalThis[kRegistered]

module.exports = { registeredSdk }

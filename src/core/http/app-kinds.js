'use strict'
// The framework of an app, recognized by its shape: spillway requires no framework.

const isExpressApp = (given) =>
  typeof given === 'function' && typeof given.handle === 'function' && typeof given.set === 'function'

/** Like an Express app, but without settings. */
const isConnectApp = (given) =>
  typeof given === 'function' && typeof given.handle === 'function' && Array.isArray(given.stack)

const isKoaApp = (given) => Array.isArray(given?.middleware) && typeof given.callback === 'function'

const isSocketIo = (given) =>
  typeof given === 'object' && typeof given?.of === 'function' && typeof given.attach === 'function'

module.exports = { isConnectApp, isExpressApp, isKoaApp, isSocketIo }

'use strict'
// Which framework an app is of, told by its shape: none of them is required here.

const isExpressApp = (given) =>
  typeof given === 'function' && typeof given.handle === 'function' && typeof given.set === 'function'

/** Connect's is the same without settings. */
const isConnectApp = (given) =>
  typeof given === 'function' && typeof given.handle === 'function' && Array.isArray(given.stack)

const isKoaApp = (given) => Array.isArray(given?.middleware) && typeof given.callback === 'function'

const isSocketIo = (given) =>
  typeof given === 'object' && typeof given?.of === 'function' && typeof given.attach === 'function'

module.exports = { isConnectApp, isExpressApp, isKoaApp, isSocketIo }

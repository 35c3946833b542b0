'use strict'
// Replaces a method of one object, and takes the replacement off again. Nothing is changed in a prototype, which other servers of the process share.

/**
 * @param {any} object
 * @param {string} name
 * @param {(original: Function) => Function} make
 * @returns {() => void} puts the original back, unless other code has wrapped the replacement since
 */
function replaceMethod(object, name, make) {
  const original = object[name]
  const wasOwn = Object.getOwnPropertyDescriptor(object, name)
  const own = make(original)
  Object.defineProperty(object, name, { value: own, configurable: true, writable: true, enumerable: false })
  return () => {
    if (object[name] !== own) return
    if (wasOwn === undefined) delete object[name]
    else Object.defineProperty(object, name, wasOwn)
  }
}

module.exports = { replaceMethod }

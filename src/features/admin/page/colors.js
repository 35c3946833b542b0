'use strict'
// Reads the colours of colors.css for drawings on a canvas. They differ between light and dark mode.

/** @type {Map<string, string>} */
let cache = new Map()

/** @param {string} name a custom property of colors.css, without its dashes */
function color(name) {
  let value = cache.get(name)
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
    cache.set(name, value)
  }
  return value
}

/** Calls `callback` when the colours have changed. @param {() => void} callback */
function onColors(callback) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    cache = new Map()
    callback()
  })
}

module.exports = { color, onColors }

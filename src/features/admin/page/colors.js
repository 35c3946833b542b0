'use strict'
// Reads the colours of colors.css, which differ in light and dark, for what is drawn on a canvas.

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

/** Calls back when the colours have changed. @param {() => void} callback */
function onColors(callback) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    cache = new Map()
    callback()
  })
}

module.exports = { color, onColors }

'use strict'
// A figure that a claim rests on.

/** @typedef {{ name: string, value: number, unit: string }} Evidence */

/** @param {string} name @param {number} value @param {string} [unit] @returns {Evidence} */
const evidence = (name, value, unit = '') => ({ name, value: Math.round(value * 1000) / 1000, unit })

module.exports = { evidence }

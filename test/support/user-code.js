'use strict'
// Runs lines as a file of the user's, with a name of its own: a notice names file and line, and is told once
// for each.

const { runInThisContext } = require('node:vm')

/**
 * @param {string} file
 * @param {string} lines the body of a function; its first line is line 1
 * @param {Record<string, any>} given what they may use, by name
 * @returns {any} what they return
 */
function runAs(file, lines, given) {
  const run = runInThisContext(`(function (${Object.keys(given)}) {\n${lines}\n})`, {
    filename: file,
    lineOffset: -1,
  })
  return run(...Object.values(given))
}

module.exports = { runAs }

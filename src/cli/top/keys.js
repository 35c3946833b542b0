'use strict'
// The keys of a terminal, read from what it sends for them.

const ESCAPE = '\x1b'
/** An escape sequence, a letter after Alt, or one character. */
const SEQUENCE = new RegExp(`${ESCAPE}(?:\\[[\\d;]*[~A-Za-z]|O[A-Za-z])|.`, 'gsu')

/** @type {Record<string, string>} */
const KEYS = {
  '\x03': 'quit',
  q: 'quit',
  Q: 'quit',
  '\x1a': 'suspend',
  '\x0c': 'redraw',
  s: 'sort',
  d: 'doctor',
  k: 'up',
  j: 'down',
  '\r': 'enter',
  '\n': 'enter',
  [ESCAPE]: 'back',
  '\x7f': 'back',
  '\b': 'back',
  [`${ESCAPE}[A`]: 'up',
  [`${ESCAPE}OA`]: 'up',
  [`${ESCAPE}[B`]: 'down',
  [`${ESCAPE}OB`]: 'down',
  [`${ESCAPE}[C`]: 'enter',
  [`${ESCAPE}OC`]: 'enter',
  [`${ESCAPE}[D`]: 'back',
  [`${ESCAPE}OD`]: 'back',
  [`${ESCAPE}[5~`]: 'page up',
  [`${ESCAPE}[6~`]: 'page down',
  [`${ESCAPE}[H`]: 'first',
  [`${ESCAPE}[1~`]: 'first',
  [`${ESCAPE}[F`]: 'last',
  [`${ESCAPE}[4~`]: 'last',
}

/** @param {string} input what the terminal has sent @returns {string[]} the names of the keys; others are left out */
function keysOf(input) {
  return [...input.matchAll(SEQUENCE)].flatMap(([sequence]) =>
    Object.hasOwn(KEYS, sequence) ? [KEYS[sequence]] : []
  )
}

module.exports = { keysOf }

'use strict'
// Runs an app written as the user would write it, and gives the mistakes that were told.

const { createSpillway } = require('../../src/index.js')
const { pinoWithLines } = require('./lines')
const { serve } = require('./serve')
const { runAs } = require('./user-code')

const ok = (_req, res) => res.end('ok')
const fail = () => {
  throw new Error('failed')
}

/**
 * @param {import('node:test').TestContext} t
 * @param {{ file: string, lines: string, given?: object, options?: object }} code which returns an app, a
 *   listener or a server; it may use `spillway` and what is given
 */
async function runApp(t, { file, lines, given = {}, options = {} }) {
  const { lines: logged, logger } = pinoWithLines({ base: null })
  const make = 'return createSpillway(options)'
  const spillway = runAs(`set-up-${file}`, make, { createSpillway, options: { logger, ...options } })
  t.after(() => spillway.close())
  const made = runAs(file, lines, { spillway, ok, fail, ...given })
  const { get } = await serve(t, made)
  const mistakes = () => logged.filter(({ mistake }) => mistake !== undefined)
  /** @param {string[]} paths which are asked for, one after the other */
  const ask = async (...paths) => {
    const answers = []
    for (const path of paths) answers.push(await get(path))
    return answers
  }
  return { spillway, ask, mistakes, logged }
}

/** Until the server has told, a moment after the client has its answer. */
async function untilTold(mistakes) {
  while (mistakes().length === 0) await new Promise((resolve) => setImmediate(resolve))
}

module.exports = { runApp, untilTold }

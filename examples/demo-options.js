'use strict'
// Parses the demo's flags and PORT. An unknown argument is an error, reported in one sentence: a misspelt
// flag that is ignored looks like a flag that does nothing.

const { parseArgs } = require('node:util')

const FLAGS = {
  seconds: { type: 'string', range: [4, 600], fallback: 22 },
  rate: { type: 'string', range: [0, 2000], fallback: 0 },
  once: { type: 'boolean' },
  serve: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
}

const HELP = `Runs an Express server at up to ten times its capacity, and with 50 clients that ask again at once: first
without spillway's gate, then with it.

  npm start                          or: node examples/demo.js
  npm start -- --seconds 5 --once

  --seconds <4-600>   duration of the load (22)
  --rate <0-2000>     requests per second to take as the capacity (0: measure it)
  --once              exit after the load (the default in a pipe and in CI)
  --serve             keep serving after the load (the default on a terminal)
  --help              show this help

  PORT                environment variable: the port to listen on (3000, or the next free one)`

/**
 * @param {string[]} args
 * @returns {{ problem?: string, help?: boolean, once?: boolean, port?: number, seconds?: number,
 *   rate?: number }}
 */
function readDemoOptions(args, env = process.env, isTerminal = process.stdout.isTTY === true) {
  // Not strict: the messages of parseArgs take three lines.
  const { values, tokens } = parseArgs({
    args,
    options: FLAGS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const unknown = tokens.find(({ kind, name }) => kind !== 'option' || !Object.hasOwn(FLAGS, name))
  if (unknown !== undefined) {
    const known = Object.keys(FLAGS).map((name) => `--${name}`)
    return { problem: `Unknown argument ${args[unknown.index]}. Known: ${known.join(', ')}.` }
  }
  const valued = ['once', 'serve', 'help'].find((name) => typeof values[name] === 'string')
  if (valued !== undefined) return { problem: `--${valued} takes no value: got '${values[valued]}'.` }

  // In a pipe or in CI nobody can open the pages or stop the demo, so it exits by itself. Some CI have a
  // terminal.
  const isWatched = isTerminal && (!env.CI || env.CI === 'false')
  const isOnce = values.once !== undefined || (values.serve === undefined && !isWatched)
  const read = { help: values.help !== undefined, once: isOnce }
  for (const name of ['seconds', 'rate']) {
    const { range, fallback } = FLAGS[name]
    read[name] = wholeNumber(values[name] ?? fallback, range)
    if (read[name] === undefined) return { problem: rangeProblem(`--${name}`, range, values[name]) }
  }
  read.port = wholeNumber(env.PORT || 3000, [0, 65535])
  if (read.port === undefined) return { problem: rangeProblem('PORT', [0, 65535], env.PORT) }
  return read
}

function wholeNumber(given, [least, most]) {
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN
  return value >= least && value <= most ? value : undefined
}

function rangeProblem(name, [least, most], given) {
  const got = typeof given === 'string' ? `'${given}'` : 'nothing'
  return `${name} must be a whole number from ${least} to ${most}: got ${got}.`
}

module.exports = { HELP, readDemoOptions }

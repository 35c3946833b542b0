'use strict'
// Parses the arguments of a story. An unknown one is an error, in one sentence.

const { parseArgs } = require('node:util')

const FLAGS = /** @type {const} */ ({
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  save: { type: 'boolean' },
  seconds: { type: 'string' },
  short: { type: 'boolean' },
})
const LONGEST_SECONDS = 600

const HELP = `Runs a story before and after its mending: a real application, under a real load.

  npm run story                            lists the stories
  npm run story blocking-hash
  npm run story blocking-hash -- --short

  --short          ends each run as soon as Spillway has said what is wrong
  --seconds <n>    how long each run takes, 1 to 600; each story has its own default
  --json           prints everything as JSON; without a name the list
  --save           writes the figures into the README.md of the story, and draws story.svg
  --artillery      auth, chat: the load is artillery.yml, run by Artillery, if it is installed
  --postgres <url> auth: your database, in place of one that the story starts
  --distance <ms>  auth: how far away the database is, 40 by default, and 0 for yours
  --help           shows this help

Write -- before the options: npm takes options without it for its own.`

/**
 * @param {string[]} args
 * @param {string[]} names of the stories
 * @param {(name: string) => { flags?: Record<string, { type: 'string' | 'boolean' }>,
 *   wrong?: (own: any) => string | undefined }} storyOf
 * @param {Record<string, string | undefined>} [env]
 * @returns {{ problem?: string, help?: boolean, name?: string, json?: boolean, save?: boolean,
 *   seconds?: number, short?: boolean, own?: Record<string, string | boolean> }}
 */
function readArguments(args, names, storyOf = () => ({}), env = {}) {
  const name = args.find((arg) => names.includes(arg))
  const { flags = {}, wrong = () => undefined } = name === undefined ? {} : storyOf(name)
  const options = { ...flags, ...FLAGS }
  const taken = takenByNpm(options, env)
  if (taken !== undefined)
    return {
      problem: `npm took --${taken} for itself. Write -- first: npm run story ${name ?? 'NAME'} -- --${taken}`,
    }
  let parsed
  try {
    parsed = parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    return { problem: `${String(error.message).split(/[.\n]/)[0]}. See: npm run story -- --help` }
  }
  const { positionals, values } = parsed
  if (name === undefined && positionals.length > 0)
    return { problem: `There is no story '${positionals[0]}'. Stories: ${names.join(', ')}.` }
  if (positionals.length > 1) return { problem: `One story at a time: got ${positionals.join(' and ')}.` }
  const { help, json, save, seconds, short, ...own } = values
  const problem = wrong(own)
  if (problem !== undefined) return { problem }
  const read = { name, own, help, json, save, short }
  if (seconds === undefined) return read
  if (!/^[1-9]\d*$/.test(seconds) || Number(seconds) > LONGEST_SECONDS)
    return { problem: `--seconds must be a whole number from 1 to ${LONGEST_SECONDS}: got '${seconds}'.` }
  return { ...read, seconds: Number(seconds) }
}

/** npm puts an option that stands before `--` into the environment, and the story would run without it. */
const takenByNpm = (options, env) =>
  env.npm_lifecycle_event === 'story'
    ? Object.keys(options).find((flag) => env[`npm_config_${flag}`])
    : undefined

module.exports = { HELP, readArguments }

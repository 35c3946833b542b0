'use strict'
// `spillway profile` and `spillway heap`: a profile of the running process. Progress goes to stderr while the
// profile is taken. Then tables by package and by function are printed, and with `--out` a file for other
// tools is saved. Ctrl-C closes the connection, and the server stops profiling.

const { constants } = require('node:fs')
const { access, lstat } = require('node:fs/promises')
const path = require('node:path')
const { CommandError, EXIT } = require('../command-error')
const { jsonLines, printable } = require('../printable-text')
const { MAX_SECONDS, seconds, text } = require('../options')
const { profileLines } = require('../profile-report')

/**
 * @import { Context } from '../command-line'
 * @import { Command } from '../commands'
 * @import { Output } from '../output'
 * @import { ProfileResult } from '../profile-report'
 */

const BAR_WIDTH = 20
const CLEAR_LINE = '\r\x1b[K'

/** A line on a terminal that shows progress. In a pipe nothing is shown. */
class ProgressLine {
  #output
  #verb

  /** @param {Output} output @param {string} verb such as 'Profiling' */
  constructor(output, verb) {
    this.#output = output
    this.#verb = verb
  }

  /** @param {{ elapsedMs: number, totalMs: number }} progress */
  show({ elapsedMs, totalMs }) {
    if (!this.#output.isScreen) return
    const done = Math.max(0, Math.min(BAR_WIDTH, Math.round((BAR_WIDTH * elapsedMs) / totalMs) || 0))
    const [full, empty] = this.#output.isUnicode ? ['█', '░'] : ['#', '.']
    const bar = full.repeat(done) + empty.repeat(BAR_WIDTH - done)
    const seconds = `${Math.round(elapsedMs / 1000)} of ${Math.round(totalMs / 1000)} s`
    this.#output.write(`${CLEAR_LINE}${this.#verb} ${bar} ${printable(seconds)}`)
  }

  clear() {
    if (this.#output.isScreen) this.#output.write(CLEAR_LINE)
  }
}

/**
 * Longest silence. A blocked event loop sends no progress, and a profile of a blocked service is useful. So
 * the timeout is long.
 */
const SILENCE_MS = 60_000

/**
 * @param {{ name: 'profile' | 'heap', usualSeconds: number, extension: string, about: string, more: string[],
 *   verb: string }} kind
 * @returns {Command}
 */
function profileCommand({ name, usualSeconds, extension, about, more, verb }) {
  return {
    name,
    about,
    more,
    options: {
      seconds: {
        takes: 'N',
        read: seconds,
        about: `how long to sample, 1 to ${MAX_SECONDS}, ${usualSeconds} by default`,
      },
      worker: {
        takes: 'NAME',
        read: text,
        about: 'profile this worker of a cluster; NAME is what `top` and /metrics show',
      },
      out: {
        takes: 'FILE',
        read: text,
        about: `also save the profile as ${extension}, for Chrome DevTools and others`,
      },
      force: { about: 'let --out replace a file, or write to what a link points to' },
    },
    examples: [
      [`spillway ${name}`, `${usualSeconds} seconds of the service at port 9464`],
      [`spillway ${name} 9465 --seconds 30`, 'longer, of another service'],
      [`spillway ${name} --worker 2`, 'of another worker of the cluster'],
      [`spillway ${name} --out slow${extension}`, 'open the file in Chrome DevTools or speedscope'],
      [`spillway ${name} --json | jq .packages`, 'the tables as JSON'],
    ],
    async run(context) {
      const { values, out } = context
      if (values.out !== undefined) await checkFile(values.out, values.force)
      const worker = values.worker === undefined ? '' : `worker=${encodeURIComponent(values.worker)}`
      const span = `seconds=${values.seconds ?? usualSeconds}`
      const result = await take(`/${name}?${[span, worker].filter(Boolean).join('&')}`, verb, context)
      out.print(values.json ? jsonLines(result, out) : profileLines(result, { kind: name, out }))
      if (values.out !== undefined) await save(`/${name}/last${extension}${worker && `?${worker}`}`, context)
      return EXIT.done
    },
  }
}

const profile = profileCommand({
  name: 'profile',
  usualSeconds: 10,
  extension: '.cpuprofile',
  about: 'which functions, files and packages use the CPU',
  more: [
    'The start pauses the service for tens to hundreds of milliseconds, and the pause is shown. Then the service answers as usual.',
  ],
  verb: 'Profiling',
})

const heap = profileCommand({
  name: 'heap',
  usualSeconds: 60,
  extension: '.heapprofile',
  about: 'what grows in memory: function, file, line and bytes',
  more: [
    'Allocations are sampled, and the samples are read twice: halfway and at the end. What grew in between comes first, then all that stays in use.',
    'Each reading collects all garbage, and pauses the service. The larger the heap is, the longer each pause takes. The pause is shown.',
  ],
  verb: 'Sampling allocations',
})

/**
 * The file is checked first, so that nobody waits a minute for a profile that cannot be saved.
 *
 * @param {string} file
 * @param {boolean | undefined} isForced
 */
async function checkFile(file, isForced) {
  const found = await lstat(file).catch(() => undefined)
  if (found?.isDirectory()) throw new CommandError(`'${printable(file)}' is a folder. Give a file to --out.`)
  if (found !== undefined && !isForced) throw alreadyThere(file)
  try {
    await access(path.dirname(path.resolve(file)), constants.W_OK)
  } catch {
    throw new CommandError(
      `'${printable(file)}' cannot be written: its folder does not exist or is not writable. Give another --out.`
    )
  }
}

/** @param {string} file */
const alreadyThere = (file) =>
  new CommandError(`'${printable(file)}' is already there. Give another --out, or --force to replace it.`)

/**
 * @param {string} question
 * @param {string} verb
 * @param {Context} context
 * @returns {Promise<ProfileResult>}
 */
async function take(question, verb, { client, err }) {
  const line = new ProgressLine(err, verb)
  /** @type {ProfileResult | undefined} */
  let result
  /** @type {string | undefined} */
  let failure
  try {
    await client.postForLines(
      question,
      (each) => {
        if (each.progress !== undefined) line.show(each.progress)
        if (each.result !== undefined) result = each.result
        if (each.error !== undefined) failure = each.error
      },
      { timeoutMs: SILENCE_MS }
    )
  } finally {
    line.clear()
  }
  if (failure !== undefined) throw new CommandError(`${client.url}: ${printable(failure)}`)
  if (result === undefined)
    throw new CommandError(
      `${client.url} ended without a result. Look at the log of the service, then ask again.`
    )
  return result
}

/** @param {string} from @param {Context} context */
async function save(from, { client, values: { out: file, force }, err }) {
  try {
    // Without --force, no link is followed. A file that was created in the meantime is not replaced.
    await client.saveFile(from, /** @type {string} */ (file), force ? 'w' : 'wx')
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(
      `'${printable(file)}' cannot be written (${/** @type {NodeJS.ErrnoException} */ (error).code}). The service keeps the file for some minutes at ${client.url}${from}.`
    )
  }
  err.print([`Saved ${printable(file)}.`])
}

module.exports = { heap, profile }

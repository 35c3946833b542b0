'use strict'
// The measurement of the story, independent of Spillway. A service writes one line when the database or the
// event loop begins to work for a request, and one when it ends. All processes of a machine share the
// monotonic clock.

const fs = require('node:fs')

const MS = 1e6
const nowMs = () => Number(process.hrtime.bigint()) / MS

/** @param {string} file each process appends to it */
function createJournal(file) {
  const lines = fs.createWriteStream(file, { flags: 'a' })
  let count = 0
  const begin = (kind, request) => {
    const id = `${process.pid}-${count++}`
    lines.write(`${JSON.stringify({ id, kind, request, beginMs: nowMs() })}\n`)
    return () => void lines.write(`${JSON.stringify({ id, endMs: nowMs() })}\n`)
  }
  return {
    /**
     * Waits for the work.
     *
     * @template T
     * @param {string} request
     * @param {() => Promise<T>} work
     * @returns {Promise<T>}
     */
    async database(request, work) {
      const end = begin('database', request)
      try {
        return await work()
      } finally {
        end()
      }
    },
    /** Resolves when all lines are written. */
    end: () => new Promise((resolve) => lines.end(resolve)),
    /** @template T @param {string} request @param {() => T} work @returns {T} */
    loop(request, work) {
      const end = begin('loop', request)
      try {
        return work()
      } finally {
        end()
      }
    },
  }
}

/** @param {string} file @returns {{ kind: string, request: string, beginMs: number, endMs?: number }[]} */
function readJournal(file) {
  const works = new Map()
  for (const line of fs.readFileSync(file, 'utf8').split('\n').filter(isWhole)) {
    const fields = JSON.parse(line)
    works.set(fields.id, { ...works.get(fields.id), ...fields })
  }
  return [...works.values()]
}

/** The last line may be half written. */
const isWhole = (line) => line.endsWith('}')

/**
 * How long the database and the loops worked, and how long of it for requests that nobody waited for any
 * more.
 * @param {ReturnType<typeof readJournal>} works
 * @param {Map<string, number>} goneMs when the client of each request left, or had its answer
 * @param {number} untilMs of work that has not ended
 */
function wastedOf(works, goneMs, untilMs) {
  const sums = { database: { totalMs: 0, wastedMs: 0 }, loop: { totalMs: 0, wastedMs: 0 } }
  for (const work of works) {
    const { beginMs, endMs } = whole(work, untilMs)
    sums[work.kind].totalMs += endMs - beginMs
    sums[work.kind].wastedMs += endMs - nobodySince(work, goneMs, endMs)
  }
  return sums
}

/**
 * The mean number of connections that worked for nobody, of each second.
 * @param {ReturnType<typeof readJournal>} works
 * @param {Map<string, number>} goneMs
 * @param {number} startedMs
 * @param {number} seconds
 */
function wastedBySecond(works, goneMs, startedMs, seconds) {
  const database = works.filter(({ kind }) => kind === 'database')
  return Array.from({ length: seconds }, (_, second) => {
    const [fromMs, untilMs] = [startedMs + second * 1000, startedMs + (second + 1) * 1000]
    const within = database.map((work) => {
      const endMs = Math.min(untilMs, work.endMs ?? untilMs)
      return Math.max(0, endMs - Math.max(fromMs, nobodySince(work, goneMs, endMs)))
    })
    return within.reduce((sum, ms) => sum + ms, 0) / 1000
  })
}

const whole = ({ beginMs, endMs }, untilMs) => ({ beginMs, endMs: endMs ?? untilMs })
/** From when a work was for nobody: at its end, if somebody waited until then. */
const nobodySince = ({ beginMs, request }, goneMs, endMs) =>
  Math.min(endMs, Math.max(beginMs, goneMs.get(request) ?? endMs))

module.exports = { createJournal, nowMs, readJournal, wastedBySecond, wastedOf }

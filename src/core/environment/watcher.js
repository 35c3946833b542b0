'use strict'
// Finds the watcher that restarts this process on every save: node --watch, nodemon, tsx watch, ts-node-dev,
// node-dev, vite-node, nest start --watch. Node sets a variable. Other watchers are found by the script that
// npm runs, and by the commands of this process and its parents.

const { execFileSync } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { isDeployed } = require('./deployment')

const NAMES = /(?:^|[\s/\\])(nodemon|ts-node-dev|tsnd|node-dev|vite-node)(?:\.\w+)?(?=\s|$)/
const TSX = /(?:^|[\s/\\])tsx(?:[/\\]\S*|\.\w+)? watch(?=\s|$)/
/** Does not match `--watch-kill-signal`, which Node 24's test runner passes to every test. */
const FLAG = /\s--watch(?:-path)?(?=[\s=]|$)/
const MAX_PARENTS = 10
const PS_TIMEOUT_MS = 500

/** @type {string | undefined} */
let found

/** @returns {string} the watcher's name, or '' if there is none. The first call searches for it */
const watcher = () => (found ??= isDeployed() ? '' : findWatcher(process.env, readCommands))

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {() => string[]} commands of this process and its parents
 */
function findWatcher(env, commands) {
  if (env.WATCH_REPORT_DEPENDENCIES !== undefined) return 'node --watch'
  for (const command of [env.npm_lifecycle_script ?? '', ...commands()]) {
    const name = watcherIn(command)
    if (name !== '') return name
  }
  return ''
}

/** @param {string} command */
function watcherIn(command) {
  const named = NAMES.exec(command)
  if (named !== null) return named[1]
  if (TSX.test(command)) return 'tsx watch'
  return FLAG.test(command) ? '--watch' : ''
}

/** Empty where commands cannot be read: on Windows, and under Node's permission model. */
function readCommands() {
  try {
    if (process.platform === 'linux') return [...linuxCommands()]
    return process.platform === 'win32' ? [] : [...commandsOf(processTable())]
  } catch {
    return []
  }
}

function* linuxCommands() {
  let pid = process.pid
  for (let count = 0; pid > 0 && count < MAX_PARENTS; count++) {
    yield readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program is in parentheses, and may contain any character.
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    pid = Number(parent)
  }
}

function processTable() {
  const args = ['-A', '-o', 'pid=,ppid=,args=']
  return execFileSync('ps', args, {
    encoding: 'utf8',
    timeout: PS_TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

/** @param {string} table a line for each process: its pid, its parent's pid, its command */
function* commandsOf(table, pid = process.pid) {
  const rows = new Map(
    Array.from(table.matchAll(/^ *(\d+) +(\d+) (.*)$/gm), ([, id, ...row]) => [Number(id), row])
  )
  for (let count = 0; count < MAX_PARENTS; count++) {
    const row = rows.get(pid)
    if (row === undefined) return
    yield row[1]
    pid = Number(row[0])
  }
}

module.exports = { commandsOf, findWatcher, watcher }

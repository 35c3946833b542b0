'use strict'
// The bottom-up tables of a call tree: by function, by file and by package, the costliest first. A row has
// two values: of its own code (self), and including all that this code called (total). Node's functions count
// as part of their caller: the name of interest is `hashPassword`, not `pbkdf2Sync`. The flame tree has all
// functions.

const { ENGINE, NODE } = require('./call-frames')
const { isRouteHandler } = require('./route-handlers')

/**
 * @import { Frame } from './call-frames'
 * @import { TreeNode } from './profile-tree'
 */

const MAX_ROWS = 200
const APPLICATION = '(application)'
/** Node's files that serve requests, run callbacks and move data. They do not count for a caller. */
const OF_THE_SERVER =
  /^node:(?:_http_|http|https|_tls|net|events|timer|diagnostics_channel|async_hooks|internal\/(?:http|net|stream|streams|timer|process\/task_queues|async_|events))/

/**
 * @typedef {Pick<Frame, 'name' | 'file' | 'line' | 'package'>} Named
 * @typedef {Named & { self: number, total: number, handled: number, open: number }} Row handled: the part of
 *   total that a router called; open: how often it is on the stack of the visited node
 */

/**
 * @template {'Ms' | 'Bytes'} Unit
 * @typedef {Named & Record<`self${Unit}` | `total${Unit}`, number> & { selfShare: number, totalShare: number,
 *   isHandler: boolean }} PublicRow
 */

class ProfileTables {
  /** @type {Map<Frame, Row>} */
  functions = new Map()
  /** @type {Map<string, Row>} */
  files = new Map()
  /** @type {Map<string, Row>} */
  packages = new Map()
  total = 0
  /** @type {Frame[]} */
  #callers = []

  /** @param {TreeNode} root */
  constructor(root) {
    for (const child of root.children) this.total += this.#visit(child, [])
  }

  /** @param {TreeNode} node @param {Row[]} callerRows */
  #visit({ frame, self, children }, callerRows) {
    const isOfCaller = callerRows.length > 0 && countsForCaller(frame, callerRows[0])
    const rows = isOfCaller ? callerRows : this.#rowsOf(frame)
    for (const row of rows) row.open++
    const isHandler = !isOfCaller && isRouteHandler(frame, this.#callers)
    this.#callers.push(frame)
    let total = self
    for (const child of children) total += this.#visit(child, rows)
    this.#callers.pop()
    for (const row of rows) {
      row.self += self
      // A function that calls itself counts once.
      if (--row.open === 0) row.total += total
    }
    if (isHandler) rows[0].handled += total
    return total
  }

  /** @param {Frame} frame */
  #rowsOf(frame) {
    return [this.#functionRow(frame), this.#fileRow(frame), this.#packageRow(frame)]
  }

  /** @param {Frame} frame */
  #functionRow(frame) {
    const { name, file, line, package: of } = frame
    return rowOf(this.functions, frame, { name, file, line, package: of })
  }

  /** @param {Frame} frame */
  #fileRow({ file, name, package: of }) {
    const key = file ?? (of === ENGINE ? name : NODE)
    return rowOf(this.files, key, { name: key, file, line: null, package: of })
  }

  /** @param {Frame} frame */
  #packageRow({ package: of, name: ofEngine }) {
    const name = of === ENGINE ? ofEngine : (of ?? APPLICATION)
    const isPackage = !name.startsWith('(')
    return rowOf(this.packages, name, { name, file: null, line: null, package: isPackage ? name : null })
  }
}

/**
 * Calls of C++ are part of their caller, and so are calls of Node's functions, except those that serve
 * requests.
 *
 * @param {Frame} frame
 * @param {Row} caller
 */
const countsForCaller = (frame, caller) =>
  frame.isNative || (frame.isNode && caller.package !== NODE && !OF_THE_SERVER.test(frame.path))

/**
 * @template Key
 * @param {Map<Key, Row>} rows
 * @param {Key} key
 * @param {Named} named
 */
function rowOf(rows, key, named) {
  let row = rows.get(key)
  if (row === undefined) rows.set(key, (row = { ...named, self: 0, total: 0, handled: 0, open: 0 }))
  return row
}

/** @param {Row} a @param {Row} b */
const bySelf = (a, b) => b.self - a.self || b.total - a.total

/**
 * Packages come first, then the application, Node and V8.
 *
 * @template {'Ms' | 'Bytes'} Unit
 * @param {TreeNode} root
 * @param {Unit} unit
 */
function tablesOf(root, unit) {
  const tables = new ProfileTables(root)
  /** @param {Row[]} rows */
  const shown = (rows) => rows.slice(0, MAX_ROWS).map((row) => publicRow(row, unit, tables.total))
  const packages = [...tables.packages.values()].sort(
    (a, b) => Number(a.package === null) - Number(b.package === null) || bySelf(a, b)
  )
  return {
    total: tables.total,
    functions: shown([...tables.functions.values()].sort(bySelf)),
    files: shown([...tables.files.values()].sort(bySelf)),
    packages: shown(packages),
  }
}

/**
 * @template {'Ms' | 'Bytes'} Unit
 * @param {Row} row
 * @param {Unit} unit
 * @param {number} all
 */
function publicRow(row, unit, all) {
  const { name, file, line, package: of, self, total } = row
  return /** @type {PublicRow<Unit>} */ ({
    name,
    file,
    line,
    package: of,
    [`self${unit}`]: rounded(self),
    [`total${unit}`]: rounded(total),
    selfShare: shareOf(self, all),
    totalShare: shareOf(total, all),
    isHandler: isHandlerRow(row),
  })
}

/**
 * A router must have called the function for half of its total or more. If V8 does not know that a handler
 * was inlined, the router may seem to call the handler's callees.
 *
 * @param {Row} row
 */
const isHandlerRow = ({ handled, total }) => handled > 0 && handled >= total / 2

/** @param {number} value */
const rounded = (value) => Math.round(value * 100) / 100
/** @param {number} value @param {number} all */
const shareOf = (value, all) => (all > 0 ? Math.round((value / all) * 1e4) / 1e4 : 0)

module.exports = { ProfileTables, isHandlerRow, rounded, tablesOf }

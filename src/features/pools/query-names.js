'use strict'
// Finds the operation of a query and its table or collection, and nothing else of its text. A statement may
// contain anything, so its literals and comments are removed before a name is searched.

/** @typedef {{ operation: string, collection: string | undefined }} QueryName */

/** Statements are read up to this length. */
const MAX_TEXT = 2000
const MAX_KEPT = 500
const MAX_NAME = 100

/**
 * Quoted text or a comment, up to the end of the statement if it is not closed. One pattern matches both, so
 * that a quote in a comment opens nothing.
 */
const NO_CODE = /'[^']*(?:'|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g
/** Quoted text that may be the name of a table, and so is kept. MySQL also quotes values like this. */
const QUOTED_NAME = /^["`][\p{L}\p{M}\p{N}_.$]+["`]$/u
/** Replaces a quoted value. It cannot be mistaken for a name. */
const TEXT = '?'
/** Replaces a comment that may end elsewhere on another server. */
const UNSURE = '#'
/** Nested comments, comments that MySQL runs as code, and comments of Postgres that MySQL reads as code. */
const UNSURE_COMMENT = /^\/\*(?:M?!|[\s\S]*\/\*)|^--\S[^\n]*['"`]/
/**
 * With these characters, the end of a quoted text depends on the server and its settings. So no table is
 * searched.
 */
const AMBIGUOUS = /\\|\$(?:[\p{L}_][\p{L}\p{M}\p{N}_]*)?\$/u
/** The start of a comment of MySQL. The same character in an operator of Postgres is followed by a path. */
const HASH = /#(?!(?:>>?|-)\s*[?$])/
const OPERATION = /^[\s(;]*([a-z]+)/i
/** A character of a name. */
const NAME = '[\\w.$\\u0080-\\uffff]'
/**
 * Matches a parenthesis, with the `select` that may follow. Also matches the word before a table, with a
 * preceding `distinct`, which gives the word another meaning.
 */
const marks = (/** @type {string} */ word) =>
  new RegExp(`\\(\\s*(select\\b)?|\\)|(?<!${NAME})(distinct\\s+)?${word}(?!${NAME})\\s*`, 'gi')
/** Operations on a table, with the word before the table's name. */
const BEFORE_TABLE = Object.freeze({
  SELECT: marks('from'),
  INSERT: marks('into'),
  REPLACE: marks('into'),
  MERGE: marks('into'),
  UPDATE: marks('update'),
  DELETE: marks('from'),
})
const PART = /(?:[\p{L}_][\p{L}\p{M}\p{N}_$]*|"[^"`]+"|`[^"`]+`)/u.source
const TABLE = new RegExp(
  `(?:(?:only|lateral|low_priority|ignore)\\s+)*(${PART}(?:\\.${PART})*)(?![\\p{L}\\p{M}\\p{N}_.$"\`])(\\s*\\()?`,
  'iuy'
)
/** Operations without a table. Any other first word becomes OTHER, because it may be anything. */
const WITHOUT_TABLE = new Set(
  'ALTER ANALYZE BEGIN CALL CLOSE COMMIT COPY CREATE DECLARE DO DROP EXEC EXECUTE EXPLAIN FETCH GRANT LISTEN LOCK NOTIFY PREPARE REFRESH RELEASE REVOKE ROLLBACK SAVEPOINT SET SHOW START TRUNCATE UNLISTEN USE VACUUM VALUES WITH'.split(
    ' '
  )
)

/**
 * Names by statement. An application has few statements, and sends each of them many times.
 *
 * @type {Map<string, QueryName>}
 */
const known = new Map()

// Hot path: once a query.
/** @param {string} text @returns {QueryName} */
function nameOfStatement(text) {
  if (text.length > MAX_TEXT) return readStatement(text.slice(0, MAX_TEXT))
  let name = known.get(text)
  if (name === undefined) {
    name = readStatement(text)
    if (known.size >= MAX_KEPT) known.clear()
    known.set(copyOf(text), name)
  }
  return name
}

/** @param {string} text @returns {QueryName} */
function readStatement(text) {
  const code = text.replaceAll(NO_CODE, withoutContent)
  const word = OPERATION.exec(code)?.[1].toUpperCase() ?? ''
  if (!Object.hasOwn(BEFORE_TABLE, word))
    return { operation: WITHOUT_TABLE.has(word) ? word : 'OTHER', collection: undefined }
  if (AMBIGUOUS.test(text) || HASH.test(code)) return { operation: word, collection: undefined }
  const table = tableIn(code, /** @type {keyof typeof BEFORE_TABLE} */ (word))
  const collection = table?.replaceAll(/["`]/g, '').slice(0, MAX_NAME)
  return { operation: word, collection: collection && copyOf(collection) }
}

/**
 * Copies a text, because V8 keeps the whole original in memory while a part of it is used.
 *
 * @param {string} text
 */
const copyOf = (text) => Buffer.from(text).toString()

/** @param {string} found by NO_CODE */
function withoutContent(found) {
  const [first] = found
  if (first === "'") return TEXT
  if (first === '"' || first === '`') return QUOTED_NAME.test(found) ? found : TEXT
  return UNSURE_COMMENT.test(found) ? UNSURE : ' '
}

/**
 * Returns the first table. `trim(both from x)` and `extract(year from x)` name no table, so a parenthesis
 * counts only if it contains a query. `is distinct from x` names no table. A function after `from`, in a
 * SELECT, does not count either.
 *
 * @param {string} code @param {keyof typeof BEFORE_TABLE} operation
 */
function tableIn(code, operation) {
  /** Whether each open parenthesis contains a query. @type {boolean[]} */
  const open = []
  for (const { 0: mark, 1: select, 2: distinct, index } of code.matchAll(BEFORE_TABLE[operation])) {
    if (mark[0] === '(') open.push(select !== undefined)
    else if (mark === ')') open.pop()
    else if (open.at(-1) !== false && distinct === undefined) {
      TABLE.lastIndex = index + mark.length
      const found = TABLE.exec(code)
      if (found === null && code[index + mark.length] !== '(') return undefined
      if (found !== null && (operation !== 'SELECT' || found[2] === undefined)) return found[1]
    }
  }
  return undefined
}

/**
 * Returns the name for `query(text)` or `query({ text })`.
 *
 * @param {ArrayLike<any>} given
 * @returns {QueryName | undefined}
 */
function nameOfQuery({ 0: first }) {
  const text = typeof first === 'string' ? first : (first?.text ?? first?.sql)
  return typeof text === 'string' ? nameOfStatement(text) : undefined
}

/**
 * Commands of MongoDB whose first value is a collection. In other commands it is a user, a role or a
 * parameter.
 */
const OF_COLLECTION = new Set(
  'aggregate bulkWrite collMod collStats compact count create createIndexes delete distinct drop dropIndexes find findAndModify findandmodify insert listIndexes mapReduce update validate'.split(
    ' '
  )
)

// Hot path: once a command.
/**
 * Returns the name for a command of MongoDB. Its first key is the operation, as in `{ find: 'orders', filter
 * }`.
 *
 * @param {ArrayLike<any>} given
 * @returns {QueryName | undefined}
 */
function nameOfCommand({ 1: command }) {
  for (const operation in command) {
    if (operation.length > MAX_NAME) return { operation: 'OTHER', collection: undefined }
    let asked
    if (OF_COLLECTION.has(operation)) asked = command[operation]
    else if (operation === 'getMore') asked = command.collection
    return { operation, collection: typeof asked === 'string' ? asked.slice(0, MAX_NAME) : undefined }
  }
  return undefined
}

module.exports = { nameOfCommand, nameOfQuery, nameOfStatement }

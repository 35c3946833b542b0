'use strict'
// The operation of a query and the table or collection that it asks, and nothing else of its text. A
// statement may hold anything, so its literals and comments are taken out before a name is looked for.

/** @typedef {{ operation: string, collection: string | undefined }} QueryName */

/** Longer statements are read up to here. */
const MOST_TEXT = 2000
const MOST_KEPT = 500
const MOST_NAME = 100

/**
 * Quoted text or a comment, to the end if it is cut off. In one pass, so that a quote in a comment opens
 * nothing.
 */
const NO_CODE = /'[^']*(?:'|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g
/** Stays, because it may be a table. MySQL quotes texts so too. */
const QUOTED_NAME = /^["`][\p{L}\p{M}\p{N}_.$]+["`]$/u
/** In place of a text: nobody takes it for a name. */
const TEXT = '?'
/** In place of a comment that ends elsewhere on another server. */
const UNSURE = '#'
/** Nested comments, code for MySQL alone, and what is a comment for Postgres alone. */
const UNSURE_COMMENT = /^\/\*(?:M?!|[\s\S]*\/\*)|^--\S[^\n]*['"`]/
/** With these, where a text ends depends on the server and its settings: no table is looked for. */
const AMBIGUOUS = /\\|\$(?:[\p{L}_][\p{L}\p{M}\p{N}_]*)?\$/u
/** A comment of MySQL. An operator of Postgres is followed by a path. */
const HASH = /#(?!(?:>>?|-)\s*[?$])/
const OPERATION = /^[\s(;]*([a-z]+)/i
/** A character of a name. */
const NAME = '[\\w.$\\u0080-\\uffff]'
/** A parenthesis, whether it holds a query, or the word before a table and what makes it another one. */
const marks = (/** @type {string} */ word) =>
  new RegExp(`\\(\\s*(select\\b)?|\\)|(?<!${NAME})(distinct\\s+)?${word}(?!${NAME})\\s*`, 'gi')
/** Those that ask a table. */
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
/** Those without a table. Anything else is OTHER: a word of the text may be anything. */
const WITHOUT_TABLE = new Set(
  'ALTER ANALYZE BEGIN CALL CLOSE COMMIT COPY CREATE DECLARE DO DROP EXEC EXECUTE EXPLAIN FETCH GRANT LISTEN LOCK NOTIFY PREPARE REFRESH RELEASE REVOKE ROLLBACK SAVEPOINT SET SHOW START TRUNCATE UNLISTEN USE VACUUM VALUES WITH'.split(
    ' '
  )
)

/** Statements of an application are few, and each is sent many times. @type {Map<string, QueryName>} */
const known = new Map()

// Hot path: once a query.
/** @param {string} text @returns {QueryName} */
function nameOfStatement(text) {
  if (text.length > MOST_TEXT) return readStatement(text.slice(0, MOST_TEXT))
  let name = known.get(text)
  if (name === undefined) {
    name = readStatement(text)
    if (known.size >= MOST_KEPT) known.clear()
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
  const collection = table?.replaceAll(/["`]/g, '').slice(0, MOST_NAME)
  return { operation: word, collection: collection && copyOf(collection) }
}

/** V8 keeps the whole text in memory for as long as a part of it is used. @param {string} text */
const copyOf = (text) => Buffer.from(text).toString()

/** @param {string} found by NO_CODE */
function withoutContent(found) {
  const [first] = found
  if (first === "'") return TEXT
  if (first === '"' || first === '`') return QUOTED_NAME.test(found) ? found : TEXT
  return UNSURE_COMMENT.test(found) ? UNSURE : ' '
}

/**
 * `trim(both from x)` and `extract(year from x)` name no table: in parentheses only a query does. Neither
 * does `is distinct from x`. What SELECT asks may be a function, which is none either.
 *
 * @param {string} code @param {keyof typeof BEFORE_TABLE} operation
 */
function tableIn(code, operation) {
  /** Whether each open parenthesis holds a query. @type {boolean[]} */
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

/** Of `query(text)` or `query({ text })`. @param {ArrayLike<any>} given @returns {QueryName | undefined} */
function nameOfQuery({ 0: first }) {
  const text = typeof first === 'string' ? first : (first?.text ?? first?.sql)
  return typeof text === 'string' ? nameOfStatement(text) : undefined
}

/** Commands of MongoDB that name a collection first. Others name a user, a role or a parameter. */
const OF_COLLECTION = new Set(
  'aggregate bulkWrite collMod collStats compact count create createIndexes delete distinct drop dropIndexes find findAndModify findandmodify insert listIndexes mapReduce update validate'.split(
    ' '
  )
)

// Hot path: once a command.
/**
 * Of a command of MongoDB, `{ find: 'orders', filter }`: its first key is its name.
 *
 * @param {ArrayLike<any>} given
 * @returns {QueryName | undefined}
 */
function nameOfCommand({ 1: command }) {
  for (const operation in command) {
    if (operation.length > MOST_NAME) return { operation: 'OTHER', collection: undefined }
    let asked
    if (OF_COLLECTION.has(operation)) asked = command[operation]
    else if (operation === 'getMore') asked = command.collection
    return { operation, collection: typeof asked === 'string' ? asked.slice(0, MOST_NAME) : undefined }
  }
  return undefined
}

module.exports = { nameOfCommand, nameOfQuery, nameOfStatement }

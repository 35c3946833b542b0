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
const NO_CODE = /'[^']*(?:'|$)|"[^"]*(?:"|$)|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g
/** Double quotes enclose text in MySQL, and names in other databases. */
const QUOTED_NAME = /^"[\w.$]+"$/
/** With these, where a text ends depends on the server and its settings: no table is looked for. */
const AMBIGUOUS = /\\|\$[a-z_]*\$/i
const OPERATION = /^[\s(;]*([a-z]+)/i
/** The operations on a table, with the word before the name of the table. */
const BEFORE_TABLE = Object.freeze({
  SELECT: /\bfrom\s+(?:only\s+)?([\w.$"`[\]]+)(?![\w.$"`[\]]|\s*\()/i,
  INSERT: /\binto\s+([\w.$"`[\]]+)/i,
  REPLACE: /\binto\s+([\w.$"`[\]]+)/i,
  MERGE: /\binto\s+([\w.$"`[\]]+)/i,
  UPDATE: /\bupdate\s+(?:only\s+)?([\w.$"`[\]]+)/i,
  DELETE: /\bfrom\s+(?:only\s+)?([\w.$"`[\]]+)/i,
})
/** The operations without a table. Any other first word is OTHER, because it may be text of a user. */
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
  const found = known.get(text)
  if (found !== undefined) return found
  const name = readStatement(text.slice(0, MOST_TEXT))
  if (text.length <= MOST_TEXT) {
    if (known.size >= MOST_KEPT) known.clear()
    known.set(text, name)
  }
  return name
}

/** @param {string} text @returns {QueryName} */
function readStatement(text) {
  const code = text.replaceAll(NO_CODE, (found) => (QUOTED_NAME.test(found) ? found : ' '))
  const word = OPERATION.exec(code)?.[1].toUpperCase() ?? ''
  if (!Object.hasOwn(BEFORE_TABLE, word))
    return { operation: WITHOUT_TABLE.has(word) ? word : 'OTHER', collection: undefined }
  if (AMBIGUOUS.test(text)) return { operation: word, collection: undefined }
  const table = BEFORE_TABLE[/** @type {keyof typeof BEFORE_TABLE} */ (word)].exec(code)?.[1]
  return { operation: word, collection: table?.replaceAll(/["`[\]]/g, '').slice(0, MOST_NAME) || undefined }
}

/** Of `query(text)` or `query({ text })`. @param {ArrayLike<any>} given @returns {QueryName | undefined} */
function nameOfQuery({ 0: first }) {
  const text = typeof first === 'string' ? first : (first?.text ?? first?.sql)
  return typeof text === 'string' ? nameOfStatement(text) : undefined
}

// Hot path: once a command.
/**
 * Of a command of MongoDB, `{ find: 'orders', filter }`: its first key is its name.
 *
 * @param {ArrayLike<any>} given
 * @returns {QueryName | undefined}
 */
function nameOfCommand({ 1: command }) {
  for (const operation in command) {
    const asked = operation === 'getMore' ? command.collection : command[operation]
    return { operation, collection: typeof asked === 'string' ? asked.slice(0, MOST_NAME) : undefined }
  }
  return undefined
}

module.exports = { nameOfCommand, nameOfQuery, nameOfStatement }

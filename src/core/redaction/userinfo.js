'use strict'
// Masks the user and the password of URLs in a text.

const { REDACTED } = require('./secret-names')

/**
 * URLs of databases, brokers and mail servers. Their drivers accept a password with an unencoded slash, `#`,
 * `?` or `@`.
 */
const SERVER =
  /\b(?:amqps?|bolt|clickhouse|cockroachdb|couchbases?|couchdb|imaps?|ldaps?|libsql|mariadb|memcached|mongodb|mqtts?|mssql|mysqlx?|nats|neo4j|oracle|pop3s?|postgres(?:ql)?|rediss?|smtps?|sqlserver|stomp|valkeys?)(?:\+[a-z]{1,20})?:\/\/[^\s"'<>`]*/gi
const AUTHORITY = '://'
/** Begins with `user:`, `:` or `user@`. */
const HAS_USERINFO = /^[^/?#@]*[:@]/
/** The longest userinfo that is masked in a URL of any other scheme. */
const LONGEST = 512
const WITHOUT_SLASH = /[^\s/]{0,513}/y
/** A password may contain a slash by mistake, but digits before a slash are a port. */
const USER = /[^\s/@:]{0,512}:(?!\d+(?:\/|\s|$))/y
const BLANK = /\s/g

/** @param {string} text */
function maskUserinfo(text) {
  if (!text.includes('@') || !text.includes(AUTHORITY)) return text
  return maskOthers(text.replace(SERVER, maskServer))
}

/**
 * Masks the userinfo of all other URLs. It uses no single pattern, because this would read each character of
 * a hostile text a thousand times.
 *
 * @param {string} text
 */
function maskOthers(text) {
  const ends = new Ends(text)
  let masked = ''
  let from = 0
  let begin = 0
  for (let at = text.indexOf(AUTHORITY); at !== -1; at = text.indexOf(AUTHORITY, begin)) {
    begin = at + AUTHORITY.length
    const end = ends.after(begin)
    if (end === -1) continue
    masked += text.slice(from, begin) + REDACTED
    from = begin = end
  }
  return masked + text.slice(from)
}

/**
 * Finds the `@` that ends a user and password. Each call begins further on, so every character is read only a
 * few times.
 */
class Ends {
  #text
  #at = -1
  #blank = -1

  /** @param {string} text */
  constructor(text) {
    this.#text = text
  }

  /** @param {number} begin @returns {number} -1 if there is none */
  after(begin) {
    const [run] = /** @type {RegExpExecArray} */ (execAt(WITHOUT_SLASH, this.#text, begin))
    const end = run.lastIndexOf('@')
    if (end !== -1) return begin + end
    const user = execAt(USER, this.#text, begin)
    if (user === null) return -1
    const password = begin + user[0].length
    if (this.#at < password) this.#at = orEnd(this.#text.indexOf('@', password))
    if (this.#blank < password) this.#blank = orEnd(execAt(BLANK, this.#text, password)?.index ?? -1)
    return this.#at - password <= LONGEST && this.#at < this.#blank ? this.#at : -1
  }
}

/** @param {number} index */
const orEnd = (index) => (index === -1 ? Number.POSITIVE_INFINITY : index)

/** @param {RegExp} pattern @param {string} text @param {number} index */
function execAt(pattern, text, index) {
  pattern.lastIndex = index
  return pattern.exec(text)
}

/** Masks the user and the password, which end at the last `@`. @param {string} url */
function maskServer(url) {
  const begin = url.indexOf(AUTHORITY) + AUTHORITY.length
  const at = url.lastIndexOf('@')
  if (at <= begin || !HAS_USERINFO.test(url.slice(begin))) return url
  return url.slice(0, begin) + REDACTED + url.slice(at)
}

module.exports = { maskUserinfo }

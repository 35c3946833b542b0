'use strict'
// Masks the user and the password of URLs in a text.

const { REDACTED } = require('./secret-names')

/** URLs of databases, brokers and mail servers. Their drivers accept a password with an unencoded slash, `#`, `?` or `@`. */
const SERVER =
  /\b(?:amqps?|bolt|clickhouse|cockroachdb|couchbases?|couchdb|imaps?|ldaps?|libsql|mariadb|memcached|mongodb|mqtts?|mssql|mysqlx?|nats|neo4j|oracle|pop3s?|postgres(?:ql)?|rediss?|smtps?|sqlserver|stomp|valkeys?)(?:\+[a-z]{1,20})?:\/\/[^\s"'<>`]*/gi
const AUTHORITY = '://'
/** Begins with `user:`, `:` or `user@`. */
const HAS_USERINFO = /^[^/?#@]*[:@]/
/** Any other URL. A password may contain a slash, by mistake, but digits before a slash are a port. */
const USERINFO = /:\/\/(?:[^\s/]{0,512}@|[^\s/@:]{0,512}:(?!\d+(?:\/|\s|$))[^\s@]{0,512}@)/g

/** @param {string} text */
function maskUserinfo(text) {
  if (!text.includes('@') || !text.includes(AUTHORITY)) return text
  return text.replace(SERVER, maskServer).replace(USERINFO, `${AUTHORITY}${REDACTED}@`)
}

/** The last `@` is that of the host. */
function maskServer(url) {
  const begin = url.indexOf(AUTHORITY) + AUTHORITY.length
  const at = url.lastIndexOf('@')
  if (at <= begin || !HAS_USERINFO.test(url.slice(begin))) return url
  return url.slice(0, begin) + REDACTED + url.slice(at)
}

module.exports = { maskUserinfo }

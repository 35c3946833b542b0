'use strict'
// The options of members, such as `listen()`: their defaults and rules.

const {
  BOOLEAN,
  COUNT,
  LOGGER,
  TIMER_FROM_0,
  TIMER_FROM_1,
  fitsTimer,
  isAbove0,
  isFunction,
  isText,
  isWhole,
} = require('./rules')

/** @import { Rule } from './rules' */

const MEMBER_DEFAULTS = Object.freeze({
  attach: Object.freeze({ signals: false, behindProxy: false }),
  listen: Object.freeze({
    port: 9464,
    host: '127.0.0.1',
    token: undefined,
    hosts: Object.freeze([]),
    timeout: 10_000,
    maxConnections: 32,
    maxRequestsPerSecond: 20,
    blockedPort: undefined,
  }),
  agent: Object.freeze({ port: 9465, host: '127.0.0.1' }),
  sockets: Object.freeze({ kind: undefined, priority: undefined }),
  'health.check': Object.freeze({ timeout: 1000, cache: 1000 }),
  pool: Object.freeze({ maxWait: undefined, queries: false }),
  limit: Object.freeze({
    name: undefined,
    maxConcurrent: undefined,
    maxWait: 500,
    maxQueue: undefined,
    key: undefined,
  }),
  clusterPrimary: Object.freeze({
    workers: undefined,
    exec: undefined,
    startTimeout: 60_000,
    killTimeout: 35_000,
    signals: true,
    logger: undefined,
  }),
})

/**
 * Excludes control characters, spaces, line breaks, and characters that quote or escape in a log line or
 * metric.
 */
const VISIBLE = /^[^\p{C}\p{Z}"'`\\]+$/u

/** @type {Record<string, Rule>} */
const MEMBER_RULES = {
  'attach.signals': BOOLEAN,
  'attach.behindProxy': BOOLEAN,
  'agent.port': ['a whole number from 0 to 65535', (value) => isWhole(value) && value <= 65_535],
  'agent.host': ['a host name or an IP address', isText],
  'sockets.kind': ['a function (data, isBinary) that returns a string', isFunction],
  'sockets.priority': ["a function (event, socket) that returns a priority class, such as 'low'", isFunction],
  'listen.port': ['a whole number from 0 to 65535', (value) => isWhole(value) && value <= 65_535],
  'listen.blockedPort': ['a whole number from 0 to 65535', (value) => isWhole(value) && value <= 65_535],
  'listen.host': ['a host name or an IP address', isText],
  'listen.token': [
    'at least 16 visible ASCII characters',
    (value) => isText(value) && /^[!-~]{16,}$/.test(value),
  ],
  'listen.hosts': [
    "a list of names such as ['metrics.internal', 'localhost:19464']",
    (value) => Array.isArray(value) && value.every(isText),
  ],
  'listen.timeout': TIMER_FROM_1,
  'listen.maxConnections': COUNT,
  'listen.maxRequestsPerSecond': COUNT,
  'health.check.timeout': [
    'a number of milliseconds above 0, and up to 2147483647',
    (value) => isAbove0(value) && fitsTimer(value),
  ],
  'health.check.cache': TIMER_FROM_0,
  'pool.maxWait': [
    'a number of milliseconds, or false (0 is off too)',
    (value) => value === false || value === 0 || isAbove0(value),
  ],
  'pool.queries': BOOLEAN,
  'limit.name': [
    "a name of up to 64 visible characters without spaces and quotes, such as 'report'",
    (value) => isText(value) && value.length <= 64 && VISIBLE.test(value),
  ],
  'limit.maxConcurrent': COUNT,
  'limit.maxWait': TIMER_FROM_0,
  'limit.maxQueue': ['a whole number of at least 0 (0: no request waits)', isWhole],
  'limit.key': ['a function (req, ctx) that returns a string or undefined', isFunction],
  'clusterPrimary.workers': COUNT,
  'clusterPrimary.exec': ['the path of the file the workers run', isText],
  'clusterPrimary.startTimeout': TIMER_FROM_1,
  'clusterPrimary.killTimeout': TIMER_FROM_0,
  'clusterPrimary.signals': BOOLEAN,
  'clusterPrimary.logger': LOGGER,
}

module.exports = { MEMBER_DEFAULTS, MEMBER_RULES }

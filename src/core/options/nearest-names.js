'use strict'
// Suggests an option for an unknown name. The first match wins. The order is: another package's name in this
// group, a similar name in this group, another package's name anywhere, a similar name anywhere. Without a
// match the message only lists the known names.

const { SpillwayError } = require('../errors/errors')
const { MEMBER_DEFAULTS } = require('./member-options')
const { DEFAULTS, RULES } = require('./table')
const { peerHint, peerHintIn } = require('./peer-options')

/** The share of the letters that may differ between similar names. */
const MAX_DISTANCE_SHARE = 0.4
/** A name with another ending is as far away as one with another letter. */
const ONE_ENDING = 1
const SHORTEST_BEGINNING = 4

/**
 * @type {{ key: string, group: string, path: string, isOfMember?: boolean }[]} every option; `path`: how
 *   users write it
 */
const ALL_OPTIONS = [
  ...Object.entries(DEFAULTS).flatMap(([name, value]) => [
    { key: name, group: '', path: name },
    // `Object.keys` of a string would return its indexes.
    ...(typeof value === 'object'
      ? Object.keys(value).map((key) => ({ key, group: name, path: `${name}.${key}` }))
      : []),
  ]),
  ...Object.entries(MEMBER_DEFAULTS).flatMap(([member, value]) =>
    Object.keys(value).map((key) => ({
      key,
      group: member,
      path: callWith(member, key),
      isOfMember: true,
    }))
  ),
]

/** @param {string} member @param {string} key */
function callWith(member, key) {
  const before =
    /** @type {Record<string, string>} */ ({ attach: 'server, ', 'health.check': 'name, check, ' })[member] ??
    ''
  return `${member}(${before}{ ${key} })`
}

/**
 * @param {string} group of options, or the member that takes them; '' for the top level
 * @param {string} key unknown in that group
 * @param {string[]} known the keys of that group
 */
function unknownOption(group, key, known) {
  const prefix = group === '' ? '' : `${group}.`
  const hint = hintFor(group, key, known)
  return new SpillwayError(
    'ERR_SPILLWAY_UNKNOWN_OPTION',
    `Unknown option \`${prefix}${key}\`. ${hint === undefined ? '' : `${hint} `}Known here: ${known.join(', ')}.`
  )
}

/** @param {string} group @param {string} key @param {string[]} known */
function hintFor(group, key, known) {
  const ofPeer = peerHintIn(group, key)
  if (ofPeer !== undefined) return ofPeer
  const own = known.map((name) => ({ key: name, path: group === '' ? name : `${group}.${name}` }))
  const others = ALL_OPTIONS.filter((each) => each.group !== group)
  const near = nearest(key, own)
  if (near.length > 0) return didYouMean(near)
  const found = nearest(key, others)
  const ofOptions = found.filter(({ isOfMember }) => !isOfMember)
  return peerHint(key) ?? didYouMean(ofOptions.length > 0 ? ofOptions : found)
}

/**
 * Suggests the option for a value that was given for its group: `shed: 'observe'`.
 *
 * @param {string} group
 * @param {string} word the value given, perhaps with a typo
 * @returns {string | undefined} a sentence
 */
function wordHint(group, word) {
  const words = Object.entries(RULES)
    .filter(([name]) => name.startsWith(`${group}.`))
    .flatMap(([name, [, , words = []]]) =>
      words.map((each) => ({
        key: each,
        path: `${group}: { ${name.slice(group.length + 1)}: '${each}' }`,
      }))
    )
  return didYouMean(nearest(word, words))
}

/** @param {readonly { path: string }[]} options */
const didYouMean = (options) =>
  options.length === 0 ? undefined : `Did you mean ${options.map(({ path }) => `\`${path}\``).join(' or ')}?`

/**
 * Whether one of two names begins with the other: `sheding`, `loggers`, `endpoint`.
 *
 * @param {string} one
 * @param {string} other
 */
function isBeginning(one, other) {
  const [short, long] = [one.toLowerCase(), other.toLowerCase()].sort((a, b) => a.length - b.length)
  return short.length >= SHORTEST_BEGINNING && short !== long && long.startsWith(short)
}

/**
 * The most similar option, if any is similar enough. Several are returned only if they have exactly this
 * name.
 *
 * @template {{ key: string }} Option
 * @param {string} word
 * @param {readonly Option[]} options
 */
function nearest(word, options) {
  let best = Number.POSITIVE_INFINITY
  /** @type {Option[]} */
  let found = []
  for (const option of options) {
    const letters = isBeginning(word, option.key) ? ONE_ENDING : distance(word, option.key)
    const mostLetters = MAX_DISTANCE_SHARE * Math.max(word.length, option.key.length)
    if (letters > mostLetters || letters > best) continue
    if (letters === best && best > 0) continue
    if (letters < best) found = []
    best = letters
    found.push(option)
  }
  return found
}

/**
 * How many letters differ, are missing or surplus, or have changed places with the next; ignoring case.
 *
 * @param {string} from
 * @param {string} to
 */
function distance(from, to) {
  const a = from.toLowerCase()
  const b = to.toLowerCase()
  /** @type {number[]} */
  let before = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        next[j] = Math.min(next[j], before[j - 2] + 1)
    }
    before = row
    row = next
  }
  return row[b.length]
}

module.exports = { nearest, unknownOption, wordHint }

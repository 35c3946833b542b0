'use strict'
// Guesses what an unknown option was meant to be: an option that another package has by this name in this group, an option
// of the same group with a similar name, an option that another package has by this name anywhere, or an option of another
// group with a similar name. Without a similar name there is no guess: the message lists all names anyway.

const { SpillwayError } = require('../errors')
const { DEFAULTS, MEMBER_DEFAULTS, RULES } = require('./table')
const { peerHint, peerHintIn } = require('./peer-options')

/** Of the letters, how many may differ. */
const NEAR = 0.4

/** @type {{ key: string, group: string, path: string, isOfMember?: boolean }[]} every option, and how it is written */
const ALL = [
  ...Object.entries(DEFAULTS).flatMap(([name, value]) => [
    { key: name, group: '', path: name },
    // A default that is a text has keys too.
    ...(typeof value === 'object'
      ? Object.keys(value).map((key) => ({ key, group: name, path: `${name}.${key}` }))
      : []),
  ]),
  ...Object.entries(MEMBER_DEFAULTS).flatMap(([member, value]) =>
    Object.keys(value).map((key) => ({
      key,
      group: member,
      path: writtenAs(member, key),
      isOfMember: true,
    }))
  ),
]

function writtenAs(member, key) {
  const before = { attach: 'server, ', 'health.check': 'name, check, ' }[member] ?? ''
  return `${member}(${before}{ ${key} })`
}

/**
 * @param {string} group of options or of a member's, '' for none
 * @param {string} key that does not exist there
 * @param {string[]} known
 */
function unknownOption(group, key, known) {
  const prefix = group === '' ? '' : `${group}.`
  const hint = hintFor(group, key, known)
  return new SpillwayError(
    'ERR_SPILLWAY_UNKNOWN_OPTION',
    `Unknown option \`${prefix}${key}\`. ${hint === undefined ? '' : `${hint} `}Known here: ${known.join(', ')}.`
  )
}

function hintFor(group, key, known) {
  const ofPeer = peerHintIn(group, key)
  if (ofPeer !== undefined) return ofPeer
  const own = known.map((name) => ({ key: name, path: group === '' ? name : `${group}.${name}` }))
  const others = ALL.filter((each) => each.group !== group)
  const near = nearest(key, own)
  if (near.length > 0) return didYouMean(near)
  const found = nearest(key, others)
  const ofOptions = found.filter(({ isOfMember }) => !isOfMember)
  return peerHint(key) ?? didYouMean(ofOptions.length > 0 ? ofOptions : found)
}

/**
 * A word that an option of a group takes, given for the group itself: `shed: 'observe'`.
 *
 * @param {string} group
 * @param {string} word as it was given, with a typo perhaps
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

const didYouMean = (options) =>
  options.length === 0 ? undefined : `Did you mean ${options.map(({ path }) => `\`${path}\``).join(' or ')}?`

/** Those of the least distance, if they are near at all. Only a name itself is worth several answers. */
function nearest(word, options) {
  let least = Number.POSITIVE_INFINITY
  let found = []
  for (const option of options) {
    const letters = distance(word, option.key)
    if (letters > NEAR * Math.max(word.length, option.key.length) || letters > least) continue
    if (letters === least && least > 0) continue
    if (letters < least) found = []
    least = letters
    found.push(option)
  }
  return found
}

/** Levenshtein, case ignored: how many letters to change, add or drop. */
function distance(from, to) {
  const a = from.toLowerCase()
  const b = to.toLowerCase()
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]
}

module.exports = { unknownOption, wordHint }

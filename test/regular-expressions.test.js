'use strict'
// No pattern of src/ takes a time that grows with the square of its text: anybody may send or write a hundred
// kilobytes of anything. A pattern that does would be at one of these texts for a minute; all others are done
// in milliseconds.

const assert = require('node:assert/strict')
const { readdirSync, readFileSync } = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const vm = require('node:vm')
const { pathText } = require('../src/core/route/route-node')
const { maskNamedValues } = require('../src/core/redaction/named-values')
const { maskUserinfo } = require('../src/core/redaction/userinfo')
const { OwnLabels } = require('../src/features/fleet/reports/reported-labels')

const SRC = path.join(__dirname, '..', 'src')
const LENGTH = 200_000
/**
 * For all texts of one pattern: a slow pattern takes about 16 seconds for one of them, and any other half a
 * second for all.
 */
const LONGEST_MS = 10_000
const MASKS_LONGEST_MS = 20_000

/** A literal stands where a value may begin. */
const LITERAL =
  /(?<=(?:[=(,:[!&|?{}]|=>|return)\s*)\/(?![*/])((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?=[\s.,;)\]}])/g

/** A text with paths and quotients may look like a literal. @param {string} source @param {string} flags */
function isPattern(source, flags) {
  try {
    return new RegExp(source, flags) !== undefined
  } catch {
    return false
  }
}

const patterns = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  // The library of the charts is given figures and dates of ours, and no text.
  .filter((name) => name.endsWith('.js') && !name.includes('vendor'))
  .flatMap((name) => {
    const code = readFileSync(path.join(SRC, name), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '')
    return [...code.matchAll(LITERAL)]
      .filter(([, source, flags]) => isPattern(source, flags))
      .map(([, source, flags]) => ({ name, pattern: new RegExp(source, flags) }))
  })

/** Without these a pattern has a bounded length, and so takes a bounded time at each place of a text. */
const isUnbounded = ({ source }) => /[*+]|\{\d+,\}/.test(source)

/** Texts that a pattern may have to go through again from each place in them. */
function* hostileTexts({ source }) {
  const words = source.match(/[\w:=" -]{2,}/g) ?? []
  const pumps = new Set([
    ...' a1/\\"=*{%[(<-_:;,.\n',
    ...source.replace(/\\[dwsbDWSB]/g, ''),
    ...words,
    '="',
    '{*',
    '%aa',
    '\\"',
  ])
  const starts = ['', words[0] ?? '', source[0], '{', '"', 'a="']
  for (const start of new Set(starts)) {
    for (const pump of pumps) yield `${start}${pump.repeat(LENGTH / pump.length)}\n\u0000!`
  }
}

/** A busy machine may leave this process less than half of the time. Then the time says nothing. */
function runWithin(timeout, code, context) {
  const before = process.cpuUsage()
  try {
    vm.runInNewContext(code, context, { timeout })
  } catch (error) {
    const { user, system } = process.cpuUsage(before)
    if ((user + system) / 1000 > timeout / 2) throw error
    runWithin(timeout, code, context)
  }
}

const unbounded = patterns.filter(({ pattern }) => isUnbounded(pattern))

test('the patterns of src/ are found', () => {
  assert.ok(patterns.length > 40, String(patterns.length))
  assert.ok(unbounded.length > 20, String(unbounded.length))
})

for (const { name, pattern } of unbounded) {
  test(`${name}: ${pattern} is done with any text at once`, () => {
    const texts = [...hostileTexts(pattern)]
    runWithin(LONGEST_MS, 'for (const text of texts) text.replace(pattern, "")', { texts, pattern })
  })
}

test('a pattern that is slow would be found', () => {
  const pattern = /\/+$/
  const texts = [...hostileTexts(pattern)]
  assert.throws(
    () =>
      vm.runInNewContext(
        'for (const text of texts) text.replace(pattern, "")',
        { texts, pattern },
        { timeout: 200 }
      ),
    { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' }
  )
})

test('code made of a pattern, or in place of a pattern, is no slower', () => {
  for (const start of ['{', '{a="', '{a="b",', '/']) {
    for (const pump of ['a', '\\', '"', 'a="b",', '/', '\\"']) {
      const text = start + pump.repeat(60_000 / pump.length)
      assert.throws(() => new OwnLabels({ type: 'gauge' }).read(text), TypeError)
      assert.equal(typeof pathText(`${text}x`), 'string')
    }
  }
})

test('the masks that are no pattern take a time that grows with the text alone', () => {
  const pumps = [
    'token:{',
    'token:["',
    "token:{'`",
    'token:\\"\\\\\\"',
    'password="\\"',
    'key: a,',
    'redis://a:',
    '\\',
    'for value ',
  ]
  for (const start of ['', '{', 'password=', 'password:{"']) {
    const texts = pumps.map((pump) => start + pump.repeat(1_000_000 / pump.length))
    const mask = (text) => maskUserinfo(maskNamedValues(text))
    runWithin(MASKS_LONGEST_MS, 'for (const text of texts) mask(text)', { texts, mask })
  }
})

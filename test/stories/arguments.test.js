'use strict'
// The arguments of a story: a wrong one is one sentence, and so is one that npm took for itself.

const { describe, test } = require('node:test')
const assert = require('node:assert/strict')
const path = require('node:path')
const { readArguments } = require('../../examples/stories/frame/arguments')

const STORIES = path.join(__dirname, '..', '..', 'examples', 'stories')

describe('the arguments of a story', () => {
  test('are a name and flags, and flags of the story itself', () => {
    const own = { postgres: { type: /** @type {const} */ ('string') } }
    const read = readArguments(['auth', '--short', '--seconds', '7', '--postgres', 'url'], ['auth'], () => ({
      flags: own,
    }))
    assert.deepEqual(
      [read.name, read.short, read.seconds, { ...read.own }],
      ['auth', true, 7, { postgres: 'url' }]
    )
    assert.equal(readArguments([], ['auth']).name, undefined)
  })

  for (const [args, problem] of /** @type {const} */ ([
    [['nope'], /^There is no story 'nope'\. Stories: auth, chat\.$/],
    [['auth', 'chat'], /^One story at a time: got auth and chat\.$/],
    [['auth', '--sec'], /^Unknown option '--sec'\. See:/],
    [['auth', '--seconds', '0'], /from 1 to 600: got '0'\.$/],
    [['auth', '--seconds'], /argument missing/],
  ])) {
    test(`are rejected with one sentence: ${args.join(' ')}`, () => {
      const read = readArguments([...args], ['auth', 'chat'])
      assert.match(String(read.problem), problem)
      assert.doesNotMatch(String(read.problem), /\n/)
    })
  }
})

describe('an option', () => {
  const short = (env) => readArguments(['auth'], ['auth'], undefined, env).problem

  test('that npm took for itself is named, and how to pass it', () => {
    assert.equal(
      short({ npm_lifecycle_event: 'story', npm_config_short: 'true' }),
      'npm took --short for itself. Write -- first: npm run story auth -- --short'
    )
    assert.equal(short({ npm_lifecycle_event: 'story', npm_config_save: '' }), undefined)
    assert.equal(short({ npm_lifecycle_event: 'test', npm_config_short: 'true' }), undefined)
  })

  for (const args of [
    ['--distance', 'abc'],
    ['--distance', ''],
    ['--postgres', 'nonsense'],
  ])
    test(`of a story is checked before it begins: ${args.join(' ')}`, () => {
      const read = readArguments(['auth', ...args], ['auth'], (name) =>
        require(path.join(STORIES, name, 'story.js'))
      )
      assert.match(String(read.problem), new RegExp(`^${args[0]} must be .*\\.$`))
    })
})

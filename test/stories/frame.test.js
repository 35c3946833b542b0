'use strict'
// The frame of the stories: its table, its text at 80 columns, and the list of stories.

const { describe, test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { progressText, tableLines } = require('../../examples/stories/frame/print')
const { costliestText } = require('../../examples/stories/frame/profile')
const { Recorder } = require('../../examples/stories/frame/recorder')
const { isDisturbed, saidLines } = require('../../examples/stories/frame/said-lines')
const { wrapped } = require('../../examples/stories/frame/wrapped')

const STORIES = path.join(__dirname, '..', '..', 'examples', 'stories')
const names = fs.readdirSync(STORIES).filter((name) => fs.existsSync(path.join(STORIES, name, 'story.js')))
const WIDTH = 79

const PART = {
  perSecond: 12345.6,
  meanMs: 1,
  p50Ms: 2.34,
  p95Ms: null,
  p99Ms: 1234.5,
  count: 5,
  errors: 1,
  unanswered: 1,
  rejected: 0,
}
const run = (name, crash = null) => ({
  name,
  seconds: 10,
  parts: [{ name: 'POST /save', ...PART }],
  memory: { peakRssBytes: 2 ** 27 },
  stalls: { totalMs: 5000, sites: [] },
  log: [{ message: 'spillway: event loop blocked', count: 3 }],
  found: [
    { problem: 'host-starved', severity: 'high', summary: 'others run', advice: 'look', effectOf: null },
    {
      problem: 'errors',
      severity: 'high',
      summary: 'it fails '.repeat(20),
      advice: 'mend it',
      effectOf: null,
    },
  ],
  crash,
})

test('what is printed fits 80 columns, and has a row for what a run alone has', () => {
  const told = {
    runs: [
      run('warned'),
      run('default', { afterMs: 900, code: 1, signal: null, output: ['TypeError: x'] }),
      run('after'),
    ],
  }
  const lines = [...tableLines(told), ...told.runs.flatMap((each) => saidLines(each, WIDTH))]
  assert.deepEqual(
    lines.filter((line) => line.length > WIDTH),
    []
  )
  const text = lines.join('\n')
  assert.match(text, /no answer +1 +1 +1/)
  assert.match(text, /event loop stalled +50 % +50 % +50 %/)
  assert.match(text, /ended by itself +no +after 0\.9 s +no/)
  assert.doesNotMatch(text, /rejected/)
  assert.match(text, /event loop blocked \(and 2 more like it\)/)
  assert.ok(
    text.indexOf('errors: it fails') < text.indexOf('host-starved'),
    'what the machine did comes last'
  )
  assert.match(text, /the process ended by itself after 0\.9 s \(exit code 1\): TypeError: x/)
})

test('the log stands as it came first, and what matters least is left out', () => {
  const warning = (message) => ({ message, level: 40, count: 1 })
  const log = [
    warning('event loop blocked: it waited for a CPU that others used'),
    warning('the heap is full in 17 s'),
    { message: 'worker 7 crashed (SIGABRT)', level: 50, count: 1 },
    warning('later'),
    warning('too late'),
    { message: 'worker 7 was replaced', level: 30, count: 1 },
  ]
  const lines = saidLines({ ...run('before'), found: [], log }, WIDTH)
  assert.deepEqual(
    lines.filter((line) => line.startsWith('  log')).map((line) => line.slice(6).trim()),
    ['the heap is full in 17 s', 'worker 7 crashed (SIGABRT)', 'later', 'worker 7 was replaced']
  )
})

test('the mode is said where requests would be rejected, and a run is disturbed if a stall waited for a CPU', () => {
  const of = (message) => ({ ...run('before'), found: [], log: [{ message, level: 40, count: 1 }] })
  const would = of('mode adaptive would shed requests now')
  assert.match(saidLines(would, WIDTH).join('\n'), /mode +The application runs in mode `observe`/)
  const host = of('event loop blocked for 101 ms: it waited for a CPU that other processes used')
  assert.doesNotMatch(saidLines(host, WIDTH).join('\n'), /observe/)
  assert.deepEqual([would, host].map(isDisturbed), [false, true])
})

test('the costliest function is of the application, or none was seen', () => {
  const library = { name: 'parse', file: '/x/parser.js', line: 3, package: 'parser', selfShare: 0.6 }
  const own = { name: 'copyOf', file: '/x/app.js', line: 36, package: null, selfShare: 0.3 }
  assert.equal(costliestText([library, own]), '30 % of the CPU time in copyOf (app.js:36)')
  assert.equal(costliestText([library]), 'no function of the application was seen')
})

test('a worker that ended by itself has a row', () => {
  const runs = [{ ...run('before'), workerCrash: { afterMs: 53_000 } }, run('after')]
  assert.match(tableLines({ runs }).join('\n'), /ended by itself +worker after 53 s +no/)
})

test('a text is broken between words, and a long word stays whole', () => {
  assert.deepEqual(wrapped('one two three', { first: '- ', indent: '  ', columns: 9 }), [
    '- one two',
    '  three',
  ])
  assert.deepEqual(wrapped('a verylongword b', { columns: 5 }), ['a', 'verylongword', 'b'])
})

test('errors, rejections and requests without an answer are counted apart', () => {
  const recorder = new Recorder()
  for (const status of [200, 200, 404, 500, 503, 0]) recorder.record('GET /', status, status, 'timeout')
  recorder.end()
  const [part] = recorder.report().parts
  const { count, errors, failures, rejected, unanswered } = part
  assert.deepEqual(
    { count, errors, failures, rejected, unanswered },
    { count: 5, errors: 2, failures: { timeout: 1 }, rejected: 1, unanswered: 1 }
  )
})

test('a line of progress says what it counts, and counts apart what nobody answered', () => {
  const recorder = new Recorder()
  for (const status of [200, 200, 500, 0]) recorder.record('save', 5, status)
  recorder.record('session', 900, 200)
  assert.equal(
    progressText(recorder.ofSecond(0)),
    'this second, all requests: 4 answers, 1 unanswered, 1 error, p99 900 ms'
  )
  assert.equal(
    progressText({ ...recorder.ofSecond(0, 'save'), of: 'saves' }),
    'this second, saves: 3 answers, 1 unanswered, 1 error, p99 5 ms'
  )
})

test('a database that does not answer is one sentence', async () => {
  const { setUp } = require(path.join(STORIES, 'auth', 'story.js'))
  await assert.rejects(setUp({ postgres: 'postgres://ada:secret@127.0.0.1:1/shop' }), ({ message }) =>
    /^No connection to the Postgres at 127\.0\.0\.1:1: [^\n]*\.$/.test(message)
  )
})

describe('a story', () => {
  for (const name of names) {
    test(`${name} has all its files, and every field that is printed`, () => {
      const folder = path.join(STORIES, name)
      const story = require(path.join(folder, 'story.js'))
      for (const file of [story.app ?? 'app.js', 'story.svg'].map((each) => path.join(folder, each)))
        assert.ok(fs.existsSync(file), file)
      const page = fs.readFileSync(path.join(folder, 'README.md'), 'utf8')
      assert.match(page, /<!-- figures -->\n.+\n<!-- \/figures -->/s)
      assert.ok(page.includes(`npm run story ${name}`) && page.includes('(story.svg)'))
      assert.ok(fs.existsSync(path.join(__dirname, `${name}.e2e.js`)))
      for (const field of ['title', 'summary', 'intro']) assert.equal(typeof story[field], 'string', field)
      assert.ok(`  blocking-hash  ${story.summary}`.length < 80, story.summary)
      assert.ok(story.learn.length >= 2 && story.runs.length >= 2)
      assert.ok(Math.max(0, story.seconds ?? 0) <= 60)
    })
  }
})

'use strict'
// The tables of docs/ name what the code has, no more and no less: metrics, members, events, mistakes, log
// lines, reasons, and the options of the admin server and of clusterPrimary(). Options and error codes:
// test/package/.

const assert = require('node:assert/strict')
const { readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { createSpillway } = require('../../src')
const { ROOT } = require('../package/pack')
const { serve } = require('../support/serve')
const { pages } = require('./pages')

const textOf = (path) => pages.find((page) => page.path === path).text
const types = readFileSync(join(ROOT, 'index.d.ts'), 'utf8')
const sources = readdirSync(join(ROOT, 'src'), { recursive: true })
  .filter((name) => String(name).endsWith('.js'))
  .map((name) => readFileSync(join(ROOT, 'src', String(name)), 'utf8'))
  .join('\n')
const unique = (values) => [...new Set(values)].sort()

const namesIn = (text, pattern) => unique([...text.matchAll(pattern)].map(([, name]) => name))
const bodyOf = (name) => types.match(new RegExp(`^export interface ${name} \\{\\n([\\s\\S]+?)^\\}`, 'm'))[1]
const unionOf = (name) =>
  namesIn(types.match(new RegExp(`^export type ${name} =([\\s\\S]+?)\\n\\n`, 'm'))[1], /'(\w+)'/g)

/** The rows of a page's table below a head that begins so. */
function rowsOf(path, head) {
  const text = textOf(path)
  const at = text.indexOf(`\n| ${head} |`)
  assert.ok(at !== -1, `${path} has a table of '${head}'`)
  return text
    .slice(at + 1)
    .split('\n\n')[0]
    .split('\n')
    .slice(2)
}

/** What stands in the first cell in marks of code. */
const firstCells = (rows) =>
  unique(rows.flatMap((row) => [...row.split(' | ')[0].matchAll(/`([^`]+)`/g)].map(([, name]) => name)))

test('docs/all-metrics.md has every metric', async (t) => {
  const spillway = createSpillway({ logger: false })
  t.after(() => spillway.close())
  const { get } = await serve(t, spillway.handler('metrics'))
  const families = namesIn((await get('/')).body, /^# TYPE (\S+)/gm).filter(
    (name) => !/^spillway_workers/.test(name)
  )
  // Not in the text, and not of one process.
  const others = ['spillway_request_duration_seconds', 'spillway_workers', 'spillway_workers_departed_total']
  const shown = firstCells(rowsOf('docs/all-metrics.md', 'metric'))
  assert.deepEqual(shown, unique([...families, ...others]))
})

test('docs/options.md has every member', () => {
  const members = namesIn(bodyOf('Spillway'), /^ {2}(?:readonly )?(\w+)[<(:]/gm)
  const shown = firstCells(rowsOf('docs/options.md', 'member')).map((member) => member.match(/^\w+/)[0])
  assert.deepEqual(unique(shown), members)
})

for (const [path, name] of [
  ['docs/options.md', 'SpillwayEvents'],
  ['docs/fleet.md', 'ClusterPrimaryEvents'],
]) {
  test(`${path} has every event with its details`, () => {
    const body = bodyOf(name).replace(/\/\*\*[\s\S]*?\*\//g, '')
    const events = Object.fromEntries(
      [...body.matchAll(/^ {2}readonly (\w+): (\w+)?(?: & )?(?:\{([\s\S]*?)\})?$/gm)].map(
        ([, event, shared, details = '']) => [
          event,
          namesIn((shared === undefined ? '' : bodyOf(shared)) + details, /readonly (\w+):/g),
        ]
      )
    )
    assert.ok(Object.keys(events).length >= 4)
    const shown = Object.fromEntries(
      rowsOf(path, 'event').map((row) => {
        const [event, , details] = row.split(' | ')
        return [event.match(/'(\w+)'/)[1], namesIn(details, /`(\w+)`/g)]
      })
    )
    assert.deepEqual(shown, events)
  })
}

test('docs/errors.md has every mistake that is reported', () => {
  const reported = namesIn(sources, /(?:[tT]ell|[wW]arn)\(\s*'([a-z]+-[a-z-]+)'/g)
  assert.ok(reported.length >= 7)
  assert.deepEqual(firstCells(rowsOf('docs/errors.md', '`mistake`')), reported)
})

test('docs/logging.md has every event that a line is of', () => {
  const logged = namesIn(sources.replace(/^\s*\/?\*.*$/gm, ''), /\bevent: '(\w+)'/g)
  const told = [...bodyOf('SpillwayEvents').matchAll(/^ {2}readonly (\w+):/gm)].map(([, event]) => event)
  const ofPrimary = [...bodyOf('ClusterPrimaryEvents').matchAll(/^ {2}readonly (\w+):/gm)].map(
    ([, event]) => event
  )
  const shown = rowsOf('docs/logging.md', 'line').flatMap((row) => [
    ...row.split(' | ')[0].matchAll(/'(\w+)'/g),
  ])
  const expected = [...logged, ...told, ...ofPrimary, 'uncaughtException', 'unhandledRejection']
  const names = unique(shown.map(([, name]) => name))
  assert.deepEqual(
    unique(expected).filter((event) => !names.includes(event)),
    []
  )
  assert.deepEqual(
    names.filter((name) => !sources.includes(name)),
    []
  )
})

test('docs/admission.md has every reason', () => {
  // A pool has its name in its reason, and so has a limit.
  for (const kind of ['pool', 'limit']) assert.ok(types.includes(`\n  | \`${kind}:\${string}\`\n`))
  const expected = [...unionOf('ShedReason'), 'pool:<name>', 'limit:<name>']
  assert.deepEqual(firstCells(rowsOf('docs/admission.md', 'reason')).sort(), expected.sort())
})

test('docs/all-metrics.md has every outcome', () => {
  const outcomes = types.match(/^export type Outcome = (.+)$/m)[1]
  const list = textOf('docs/all-metrics.md').match(/exactly one `outcome`. It is ([\s\S]+?)\n-/)[1]
  for (const outcome of namesIn(outcomes, /'(\w+)'/g)) assert.ok(list.includes(`\`${outcome}\``), outcome)
})

for (const [path, name] of [
  ['docs/admin.md', 'ListenOptions'],
  ['docs/fleet.md', 'ClusterPrimaryOptions'],
]) {
  test(`${path} has every option of ${name} with its default`, () => {
    const options = [
      ...bodyOf(name).matchAll(/@default (.+)\n(?: {3}\* @.*\n)*\s+\*\/\n {2}readonly (\w+)\?:/g),
    ]
    const rows = rowsOf(path, 'option')
    const cells = new Map(
      rows.map((row) => row.split(' | ')).map(([option, value]) => [option.match(/\w+/)[0], value])
    )
    assert.deepEqual(
      [...cells.keys()],
      options.map(([, , option]) => option)
    )
    for (const [, value, option] of options) {
      // What is left out may have a default that is found out: `os.availableParallelism()`.
      if (value !== 'undefined') assert.equal(cells.get(option), `\`${value}\``, option)
    }
  })
}

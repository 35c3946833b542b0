'use strict'
// Processes under Node's permission model: each serves as without, tells what is off, and has the feature
// with the grants of its row in docs/development.md. A thread that connected to an inspector without the
// grant would abort the process.

const assert = require('node:assert/strict')
const { existsSync, mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const { setTimeout: delay } = require('node:timers/promises')
const { pages } = require('../docs/pages')
const { startProgram } = require('../support/program')
const { ask } = require('../support/serve')

const REPOSITORY = join(__dirname, '../..')
const FILE = join(__dirname, 'permitted-server.js')
const COMMAND_LINE = join(REPOSITORY, 'src/cli/executable.js')
const has = (flag) => process.allowedNodeEnvironmentFlags.has(flag)
const MODEL = has('--permission') ? '--permission' : '--experimental-permission'
const canInspect = has('--allow-inspector')
/** Without them no server runs at all. */
const LEAST = [
  MODEL,
  `--allow-fs-read=${REPOSITORY}/*`,
  ...(has('--allow-net') ? ['--allow-net'] : []),
  '--no-warnings',
]

/** The features of the table, and the flags of each row. */
const rows = new Map(
  [
    .../** @type {any} */ (pages.find(({ path }) => path === 'docs/development.md')).text.matchAll(
      /^\| `([a-z-]+)` \|.*\| (.*`--.*) \|$/gm
    ),
  ].map(([, feature, cell]) => [feature, [...cell.matchAll(/`(--[a-z-]+)/g)].map(([, flag]) => flag)])
)
const onlyLinux = ['cpu-waits', 'container-limits']
const known = [...rows.keys()].filter(
  (feature) => process.platform === 'linux' || !onlyLinux.includes(feature)
)

/** On a slow machine the loop rests from one profile before the next. */
async function afterRest(asks) {
  let answer = await asks()
  while (answer.status === 429) {
    await delay(1000 * Number(answer.headers['retry-after']))
    answer = await asks()
  }
  return answer
}

async function start(t, grants) {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-permitted-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const flags = grants.map((grant) => grant.replace('FOLDER', folder))
  const program = startProgram('', {
    t,
    file: FILE,
    args: [folder],
    nodeArgs: flags,
    hasChannel: true,
    tellsErrors: true,
  })
  const { port, adminPort } = await program.next('ports')
  const at = (method, path, headers = {}) => ask({ port: adminPort, method, path, headers })
  const snapshot = async () => JSON.parse((await at('GET', '/snapshot')).body)
  /** Blocks the loop until a stall is told that the condition chooses. */
  const stalled = async (isWanted) => {
    for (;;) {
      assert.equal((await ask({ port, path: '/' })).body, 'served')
      const stall = await program.next('stall')
      if (isWanted(stall)) return stall
    }
  }
  const end = async () => {
    program.child.send('end')
    return (await program.closed).code
  }
  const restricted = () => program.told().match(/"event":"restricted".*/g) ?? []
  return { ...program, adminPort, at, end, folder, restricted, snapshot, stalled }
}

const FILES = ['--allow-fs-read=FOLDER/*', '--allow-fs-write=FOLDER/*']
const SYSTEM = ['--allow-fs-read=/proc/*', '--allow-fs-read=/sys/*']
const THREADS = ['--allow-worker', ...(canInspect ? ['--allow-inspector'] : [])]

describe("under Node's permission model", () => {
  for (const [what, grants] of [
    ['the least', []],
    ['worker threads', ['--allow-worker']],
    ['worker threads and child processes', ['--allow-worker', '--allow-child-process']],
    ...(canInspect ? [['the inspector', ['--allow-inspector']]] : []),
  ]) {
    it(`with ${what} granted, a process outlives its stalls, and tells once what is off`, async (t) => {
      const { at, end, restricted, snapshot, stalled } = await start(t, [...LEAST, ...grants])
      // Each would start the watcher: without /proc none is held to be the host's.
      for (let i = 0; i < 3; i++) assert.equal((await stalled(() => true)).function, null)
      const { forbidden } = await snapshot()
      assert.deepEqual(
        forbidden.map(({ feature }) => feature),
        known.filter((feature) => feature !== 'page')
      )
      for (const { feature, grants: missing } of forbidden) {
        const flags = missing.map((grant) => grant.split('=')[0])
        const expected = rows
          .get(feature)
          ?.filter((flag) => !(/** @type {string[]} */ (grants).includes(flag)))
        // Its own files may be read: the process has started.
        assert.deepEqual(
          flags,
          feature === 'profiles' || feature === 'stall-functions'
            ? expected?.filter((flag) => flag !== '--allow-fs-read')
            : expected,
          feature
        )
      }
      for (const path of ['/profile?seconds=1', '/heap?seconds=1']) {
        const refused = await at('POST', path)
        assert.equal(refused.status, 503)
        assert.match(refused.body, /^Node's permission model forbids profiles\. Missing: --allow-/)
      }
      assert.equal((await at('GET', '/metrics')).status, 200)
      assert.equal((await at('GET', '/report')).status, 200)
      assert.match((await at('GET', '/', { accept: 'text/html' })).body, /^<!doctype html>/i)
      assert.equal(await end(), 0)
      assert.equal(restricted().length, 1)
    })
  }

  it('with every grant everything works', async (t) => {
    const { at, end, folder, restricted, snapshot, stalled } = await start(t, [
      ...LEAST,
      ...FILES,
      ...SYSTEM,
      ...THREADS,
    ])
    await stalled(() => true)
    const { forbidden, internalErrors } = await snapshot()
    assert.deepEqual(
      forbidden,
      canInspect
        ? []
        : ['stall-functions', 'profiles'].map((feature) => ({ feature, grants: ['--allow-inspector'] }))
    )
    assert.deepEqual(internalErrors, {})
    if (canInspect) {
      assert.equal((await stalled((stall) => stall.function !== null)).function, 'burn')
      for (const path of ['/profile?seconds=1', '/heap?seconds=1'])
        assert.equal((await afterRest(() => at('POST', path))).status, 200, path)
    }
    assert.equal(await end(), 0)
    // The log holds a line for a moment.
    assert.equal(restricted().length, canInspect ? 0 : 1)
    assert.ok(existsSync(join(folder, 'releases.json')))
  })

  it('an audit forbids nothing but the inspector, which Node does not make', {
    skip: !has('--permission-audit'),
  }, async (t) => {
    const { end, snapshot, stalled } = await start(t, ['--permission-audit', '--no-warnings'])
    for (let i = 0; i < 3; i++) await stalled(({ cause }) => cause !== 'host')
    const { forbidden } = await snapshot()
    assert.deepEqual(
      forbidden,
      ['stall-functions', 'profiles'].map((feature) => ({ feature, grants: ['--allow-inspector'] }))
    )
    assert.equal(await end(), 0)
  })

  it('the command line says which grant its command needs', async (t) => {
    const { adminPort } = await start(t, LEAST)
    const args = ['report', String(adminPort), '--', process.execPath, '--version']
    const report = startProgram('', { t, file: COMMAND_LINE, args, nodeArgs: LEAST, tellsErrors: true })
    assert.equal((await report.closed).code, 2)
    assert.match(
      report.told(),
      /cannot be run \(ERR_ACCESS_DENIED\)\. Start Node with --allow-child-process\.\n$/
    )
  })

  const canDrop = MODEL === '--permission' && canInspect
  it('a grant that the application takes back counts no more', { skip: !canDrop }, async (t) => {
    const { at, child, next, snapshot } = await start(t, [...LEAST, ...FILES, ...SYSTEM, ...THREADS])
    child.send('drop')
    await next('dropped')
    const features = (await snapshot()).forbidden.map(({ feature }) => feature)
    assert.deepEqual(features, known)
    const page = await at('GET', '/', { accept: 'text/html' })
    assert.deepEqual([page.status, page.body.split('\n')[0]], [200, 'spillway'])
    assert.equal((await at('GET', '/report')).status, 500)
  })
})

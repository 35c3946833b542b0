'use strict'
// Pointed at something that cannot be asked, the program says so in one line, with the next step, and exits
// with 2.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const net = require('node:net')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { describe, test } = require('node:test')
const { AdminClient } = require('../../src/cli/admin-client')
const { spillwayFor } = require('../support/spillway')
const { diagnosisOf, json, snapshotOf, standInFor } = require('./admin-stand-in')
const { runProgram } = require('./program')

const TOKEN = 'a-token-of-sixteen'

/** @param {import('node:test').TestContext} t */
async function refused(t, args, pattern, options) {
  const { code, out, err } = await runProgram(args, options)
  assert.equal(out, '')
  assert.match(err, pattern)
  assert.equal(err.split('\n').length, 2, err)
  assert.equal(code, 2)
}

describe('an address that cannot be asked', () => {
  test('nothing listens', (t) =>
    refused(t, ['doctor', '1'], /^spillway: http:\/\/127\.0\.0\.1:1 does not listen\. Start the service/))

  test('a name that does not resolve', (t) =>
    refused(t, ['top', 'http://no-such-host.invalid'], /cannot be resolved/))

  test('another http server', async (t) => {
    const { url } = await standInFor(t, {})
    await refused(
      t,
      ['top', url],
      /is not an admin server of Spillway: its answer to \/snapshot has status 404\./
    )
  })

  test('an http server that answers everything', async (t) => {
    for (const answer of [json({ ok: true }), json([1]), (_req, res) => res.end('<html>')]) {
      const { url } = await standInFor(t, { 'GET /snapshot': answer })
      await refused(t, ['snapshot', url], /is not an admin server of Spillway/)
    }
  })

  test('a server that does not speak HTTP, or hangs up', async (t) => {
    for (const [greeting, pattern] of /** @type {const} */ ([
      ['SSH-2.0-OpenSSH\r\n', /does not speak HTTP/],
      ['', /closed the connection/],
    ])) {
      const server = net
        .createServer((socket) => socket.end(greeting).on('error', () => {}))
        .listen(0, '127.0.0.1')
      t.after(() => server.close())
      await once(server, 'listening')
      await refused(t, ['doctor', String(/** @type {any} */ (server.address()).port)], pattern)
    }
  })

  test('a server without TLS asked by https', async (t) => {
    const { port } = await standInFor(t, {})
    await refused(t, ['doctor', `https://127.0.0.1:${port}`], /does not speak TLS\. Use http:\/\//)
  })

  test('a redirect is shown and not followed', async (t) => {
    const { url, requests } = await standInFor(t, {
      'GET /doctor': (_req, res) => res.writeHead(302, { Location: 'https://elsewhere.example/' }).end(),
    })
    await refused(
      t,
      ['doctor', url, '--token', TOKEN],
      /redirects to https:\/\/elsewhere\.example\/\. Give that URL/
    )
    assert.deepEqual(requests, ['GET /doctor'])
  })

  test('an answer that never comes', async (t) => {
    const { url } = await standInFor(t, { 'GET /doctor': () => {} })
    const clock = { wait: (_ms, fail) => setImmediate(fail), cancel: () => {} }
    const client = new AdminClient({ url, token: undefined, clock: /** @type {any} */ (clock) })
    t.after(() => client.close())
    await assert.rejects(
      client.getJson('/doctor'),
      /did not answer within 10 s\. Its event loop may be blocked/
    )
  })
})

describe('an admin server that refuses', () => {
  const listening = (t, options) => spillwayFor(t, undefined).listen({ port: 0, ...options })

  test('wants a token', async (t) => {
    const { url } = await listening(t, { token: TOKEN })
    await refused(t, ['doctor', url], /requires a token\. Set SPILLWAY_ADMIN_TOKEN, or give --token\./)
    await refused(t, ['doctor', url, '--token', `${TOKEN}!`], /does not accept the token of --token/)
    await refused(t, ['doctor', url], /does not accept the token of SPILLWAY_ADMIN_TOKEN/, {
      env: { SPILLWAY_ADMIN_TOKEN: 'another-token-here' },
    })
    for (const [args, env] of /** @type {const} */ ([
      [['--token', TOKEN], {}],
      [[], { SPILLWAY_ADMIN_TOKEN: TOKEN }],
    ]))
      assert.equal((await runProgram(['doctor', url, ...args], { env })).code, 0)
  })

  test('has had too many requests', async (t) => {
    const { url } = await standInFor(t, {
      'GET /doctor': (_req, res) => res.writeHead(429).end('Too many requests.\n'),
    })
    await refused(t, ['doctor', url], /too many requests a second/)
  })

  const RESTING =
    'The event loop was just paused for a profile, snapshot or report. The next pause may begin after 19 times the length of this one. Ask again in 40 s.'
  test('rests from an earlier profile', async (t) => {
    const { url } = await standInFor(t, {
      'POST /profile': (_req, res) => res.writeHead(429, { 'Retry-After': '40' }).end(`${RESTING}\n`),
    })
    await refused(
      t,
      ['profile', url],
      /may begin after 19 times the length of this one\. Ask again in 40 s\./
    )
  })

  test('a short rest is waited for', async (t) => {
    let asked = 0
    const { url } = await standInFor(t, {
      'GET /doctor': (req, res) => {
        if (++asked === 1) res.writeHead(429, { 'Retry-After': '0' }).end(`${RESTING}\n`)
        else json(diagnosisOf())(req, res)
      },
    })
    assert.equal((await runProgram(['doctor', url])).code, 0)
    assert.equal(asked, 2)
  })

  test('a host that it does not know is named', async (t) => {
    const { url } = await standInFor(t, { 'GET /doctor': (_req, res) => res.writeHead(421).end() })
    await refused(
      t,
      ['doctor', url],
      /does not answer for the host '127\.0\.0\.1:\d+'\. .*`hosts` of listen\(\)/
    )
  })
})

describe('a command that is wrong', () => {
  for (const [args, pattern] of /** @type {[string[], RegExp][]} */ ([
    [['tpo'], /^spillway: Unknown command 'tpo'\. Did you mean top\? See spillway --help\./],
    [['snap'], /Did you mean snapshot\?/],
    [['frobnicate'], /^spillway: Unknown command 'frobnicate'\. See spillway --help\./],
    [['9464'], /Which command\? For example: spillway top 9464/],
    [['top', '--jsn'], /Unknown option --jsn\. Did you mean --json\? See spillway top --help/],
    [['top', '--out', 'x'], /spillway top has no option --out, but profile, heap and report have/],
    [['--watch'], /without a command has no option --watch, but top and report have/],
    [['top', '--sort', 'size'], /--sort takes one of: route, requests/],
    [['top', '--sort'], /--sort takes one of/],
    [['profile', '--seconds', 'ten'], /--seconds needs a whole number/],
    [['profile', '--seconds', '0'], /--seconds needs a whole number/],
    [['heap', '--seconds', '61'], /--seconds needs a whole number of seconds from 1 to 60/],
    [['profile', 'heap'], /'heap' is a command, not an address: spillway heap\./],
    [['top', '--token'], /--token needs a value/],
    [['top', '--json=yes'], /--json takes no value/],
    [['top', '1', '2'], /'2' is one argument too many\. A command takes one address/],
    [
      ['report', '9464', 'npx', 'autocannon'],
      /'npx' is one argument too many\. Write -- before a command to run/,
    ],
    [['top', '99999'], /'99999' is not a port/],
    [['top', 'ftp://host'], /'ftp:\/\/host' is not an address/],
    [['top', 'http://user:secret@host'], /Give the token by --token or SPILLWAY_ADMIN_TOKEN/],
    [['report', '--from', 'noon'], /--from needs a time, such as --from -5m/],
    [['report', '--for', '30'], /--for needs a duration, such as --for 90s/],
    [['report', '--for', '600h'], /--for takes a week at most: 168h\./],
    [['report', '--for', '99999999999999999999999h'], /--for takes a week at most: 168h\./],
    [['report', '--watch', '--from', '-5m'], /leave them out with --watch/],
    [['report', '--for', '5s', '--', 'true'], /leave out --for/],
    [['report', '--baseline', 'package.json'], /'package\.json' is not a report of this version/],
    [['report', '--baseline', 'nowhere.html'], /'nowhere\.html' cannot be read \(ENOENT\)/],
    [['report', '--out', 'package.json'], /'package\.json' exists\. Give another --out, or --force/],
    [['report', '--out', 'nowhere/x.html'], /cannot be written: its folder does not exist/],
    [['report', '--out', '.'], /'\.' is a folder/],
    [['top', '--', 'true'], /only report runs a command after --/],
    [['top', '--constructor'], /Unknown option --constructor/],
    [['top', '--token', 'ein-schlüssel'], /cannot be asked with this token|does not listen/],
  ])) {
    test(args.join(' '), (t) => refused(t, args, pattern))
  }

  test('a baseline that lacks figures, before the service is asked', (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'spillway-baseline-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = path.join(folder, 'partial.html')
    writeFileSync(
      file,
      '<script type="application/json" id="spillway-run">{"format":"spillway.report.1"}</script>'
    )
    const args = ['report', '1', '--out', path.join(folder, 'report.html'), '--baseline', file, '--', 'true']
    return refused(t, args, /partial\.html' is not a report of this version\. Give a file that/)
  })

  test('a wrong address in the environment is named with its variable', (t) =>
    refused(t, ['top'], /'x:y:z' in SPILLWAY_ADMIN_URL is not an address/, {
      env: { SPILLWAY_ADMIN_URL: 'x:y:z' },
    }))
})

test('the mistake of an unknown answer is no health of a process', async (t) => {
  const { url } = await standInFor(t, {
    'GET /snapshot': json(snapshotOf({ routes: 7 })),
    'GET /doctor': json(diagnosisOf()),
  })
  const { code, err } = await runProgram(['top', url])
  assert.equal(code, 2)
  assert.match(err, /^spillway: an internal error\.\nTypeError/)
})

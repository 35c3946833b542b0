'use strict'
// index.d.ts is the documentation that an editor shows. Each option has a sentence, its default, its unit, an
// example and a page, and each member an example and a page. The pages exist, and the examples compile and
// are valid options.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { test } = require('node:test')
const { promisify } = require('node:util')
const { resolveOptions } = require('../../src/core/options/options')
const { ROOT } = require('../package/pack')
const { pages } = require('./pages')

const types = readFileSync(join(ROOT, 'index.d.ts'), 'utf8')

/** What users write, and what is neither: the options in force. */
const isOfOptions = (name) => (/Options$/.test(name) && name !== 'ResolvedOptions') || name === 'PoolFigures'

/** Words of which the sentence of a number has one. */
const UNIT =
  /\b(milliseconds|seconds|bytes|number of|share|from 0 to 1|port|status|pressure|the most|connections|callers)\b/i

/** The properties of an interface, each with its comment and its type. */
function propertiesOf(body) {
  const found = body.matchAll(
    /^( {2}\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)? {2}(?:readonly )?(\w+)(\??)[:(<]([^\n]*)/gm
  )
  return [...found].map(([, comment = '', name, optional, type]) => ({
    name,
    isRequired: optional === '',
    type,
    comment: comment.replace(/^ *(?:\/\*\*|\*\/|\*) ?/gm, '').trim(),
  }))
}

const INTERFACES = new Map(
  [...types.matchAll(/^export interface (\w+) \{\n([\s\S]+?)^\}/gm)].map(([, name, body]) => [
    name,
    propertiesOf(body),
  ])
)
const OPTIONS = [...INTERFACES].filter(([name]) => isOfOptions(name))
/** Of overloads, the first has the comment. */
const MEMBERS = INTERFACES.get('Spillway').filter(
  ({ name }, index, all) => all.findIndex((other) => other.name === name) === index
)

const tagOf = (comment, tag) => comment.match(new RegExp(`^@${tag} (.+)$`, 'm'))?.[1]

function checkPage(where, comment) {
  const [, path, target] = comment.match(/^@see \[([\w./-]+)\]\(\.\/([^)]+)\)$/m) ?? []
  assert.ok(path !== undefined, `${where} names its page: @see [docs/page.md](./docs/page.md#heading)`)
  const [file, anchor] = target.split('#')
  assert.equal(file, path, `${where} shows the page that it links`)
  const page = pages.find((each) => each.path === file)
  assert.ok(page !== undefined, `${where}: there is no ${file}`)
  if (anchor !== undefined) assert.ok(page.anchors.has(anchor), `${where}: ${file} has no heading #${anchor}`)
}

for (const [name, properties] of OPTIONS)
  test(`every option of ${name} has a sentence, its default, an example and its page`, () => {
    assert.ok(properties.length > 0)
    for (const { name: option, comment, isRequired, type } of properties) {
      const where = `${name}.${option}`
      assert.match(comment, /^[A-Z0-9(`][\s\S]+?[.:]/, `${where} has a sentence`)
      assert.ok(tagOf(comment, 'example') !== undefined, `${where} has an @example`)
      checkPage(where, comment)
      const isGroup = /^ \w+Options\b/.test(type)
      if (!isRequired && !isGroup && !/^ (?:Endpoint|Error|Insight)Options \|/.test(type))
        assert.ok(tagOf(comment, 'default') !== undefined, `${where} has a @default`)
      if (/^ number\b/.test(type)) assert.match(comment, UNIT, `${where} names its unit`)
    }
  })

test('every member of an instance has a sentence, an example and its page', () => {
  assert.ok(MEMBERS.length >= 25)
  for (const { name, comment } of MEMBERS) {
    assert.match(comment, /^[A-Z][\s\S]+?\./, `${name} has a sentence`)
    assert.ok(tagOf(comment, 'example') !== undefined, `${name} has an @example`)
    checkPage(name, comment)
  }
})

test('every page that index.d.ts links exists', () => {
  const links = types.match(/@see \[.*$/gm)
  for (const link of links) checkPage(link, link)
})

test('every declaration is in one of the regions that the head of the file lists', () => {
  const listed = [...types.matchAll(/^\/\/ {3}([^:\n]+?)(?:[:,] .*)?$/gm)].map(([, name]) => name)
  const regions = [...types.matchAll(/^\/\/ #region (.+)\n([\s\S]*?)^\/\/ #endregion$/gm)]
  assert.ok(regions.length > 5)
  assert.deepEqual(
    regions.map(([, name]) => name.replace(/,.*/, '')),
    listed
  )
  const declared = (text) => text.match(/^export /gm)?.length ?? 0
  assert.equal(
    regions.reduce((sum, [, , body]) => sum + declared(body), 0),
    declared(types)
  )
})

/** Every example, with the name of what it is of. */
const EXAMPLES = [...OPTIONS, /** @type {const} */ (['Spillway', MEMBERS])].flatMap(([name, properties]) =>
  properties.map((each) => [`${name}.${each.name}`, tagOf(each.comment, 'example')])
)
/** Options of `createSpillway()` stand alone, what a member takes in a call. */
const isCall = (example) => !/^\w+: /.test(example)

test('the examples of options are valid', () => {
  const names = { pool: { waitingCount: 0 }, register: undefined }
  let count = 0
  for (const [where, example] of EXAMPLES) {
    if (isCall(example)) continue
    const options = new Function(...Object.keys(names), `return ({ ${example} })`)(...Object.values(names))
    assert.doesNotThrow(() => resolveOptions(options), `${where}: ${example}`)
    assert.ok(example.includes(where.split('.')[1]), `${where} is in its example`)
    count += 1
  }
  assert.ok(count > 80)
})

/** What the examples find around them, as in an application. */
const AROUND = `
import http from 'node:http'
import test from 'node:test'
import express from 'express'
import type { FastifyInstance } from 'fastify'
import Koa from 'koa'
import { register } from 'prom-client'
import { PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics'
import { clusterPrimary, createSpillway } from 'spillway'
import type { ShedCause, SocketIoServer, WebSocketServer } from 'spillway'

const spillway = createSpillway()
const app = express()
const koaApp = new Koa()
const server = http.createServer()
const url = 'http://orders.internal'
declare const pool: { totalCount: number, idleCount: number, waitingCount: number, query(text: string): unknown }
declare const pg: { Pool: new (options: object) => object } // without its types
declare const token: string
declare const io: SocketIoServer
declare const wss: WebSocketServer
declare const req: http.IncomingMessage
declare const cached: string[]
declare const name: string
declare const OPERATIONS: Set<string>
declare const fastify: FastifyInstance
declare const exporter: PushMetricExporter
declare const report: express.RequestHandler
declare function recommend(req: http.IncomingMessage): Promise<string[]>
declare function pauseImports(): void
declare function connect(): Promise<void>
declare function onOverload(cause: ShedCause): void
declare function require(name: 'express'): typeof express
`

test('the examples compile', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-examples-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const blocks = EXAMPLES.map(([where, example]) =>
    isCall(example)
      ? `// ${where}\nexport const at${where.replace('.', '')} = async () => {\n${example}\n}`
      : `// ${where}\ncreateSpillway({ ${example} })`
  )
  writeFileSync(join(folder, 'examples.mts'), `${AROUND}\n${blocks.join('\n')}\n`)
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction')
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        allowJs: false,
        checkJs: false,
        noUnusedLocals: false,
        skipLibCheck: true,
        paths: { spillway: [join(ROOT, 'index.d.ts')] },
      },
      include: ['.'],
    })
  )
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const run = promisify(execFile)
  const output = await run(process.execPath, [tsc, '-p', folder]).then(
    () => '',
    ({ stdout, stderr }) => stdout + stderr
  )
  assert.equal(output, '')
})

'use strict'
// What is advised for stacks that were read in real stalls of packages. test/stalls/blocking-call.program.js
// has the calls of Node and V8.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { adviceForCall } = require('../../src/features/doctor/blocking-calls')

const SITE = { call: null, file: 'routes.js', function: 'list', package: null }
const LIST = ['list (routes.js:20)', 'handle (node_modules/router/lib/layer.js:169)']
/** @param {string} from @param {string[]} frames @param {object} [changes] */
const adviceFor = (from, frames, changes) =>
  adviceForCall({ ...SITE, package: from, frames: [...frames, ...LIST], ...changes })

const PACKAGES = {
  bcryptjs: [
    /package bcrypt, or crypto\.scrypt/,
    ['_key (node_modules/bcryptjs/umd/index.js:945)', 'hashSync (node_modules/bcryptjs/umd/index.js:208)'],
  ],
  'ejs, compiling': [
    /compile the template once/,
    [
      'Array.forEach (V8)',
      'generateSource (node_modules/ejs/lib/cjs/ejs.js:686)',
      'compile (node_modules/ejs/lib/cjs/ejs.js:537)',
      'handleCache (node_modules/ejs/lib/cjs/ejs.js:210)',
      'ejs.render (node_modules/ejs/lib/cjs/ejs.js:372)',
    ],
  ],
  'pug, compiling': [
    /compile the template once/,
    [
      'parseExprOps (node_modules/@babel/parser/lib/index.js:7899)',
      'allowInAnd (node_modules/@babel/parser/lib/index.js:9442)',
      'parseStatementLike (node_modules/@babel/parser/lib/index.js:9805)',
    ],
  ],
  'pug, rendering': [
    /paginate what is rendered/,
    ['RegExp.exec (V8)', 'pug_escape (node_modules/pug-runtime/index.js:202)', 'eval ((unknown):19)'],
    { call: 'RegExp.exec of /["&<>]/' },
  ],
  'handlebars, compiling': [
    /compile the template once/,
    [
      'parse (node_modules/handlebars/dist/cjs/handlebars/compiler/parser.js:367)',
      'compileInput (node_modules/handlebars/dist/cjs/handlebars/compiler/compiler.js:546)',
      'ret (node_modules/handlebars/dist/cjs/handlebars/compiler/compiler.js:555)',
    ],
  ],
  'handlebars, rendering': [
    /paginate what is rendered/,
    [
      'prog (node_modules/handlebars/dist/cjs/handlebars/runtime.js:284)',
      'execIteration (node_modules/handlebars/dist/cjs/handlebars/helpers/each.js:71)',
      'ret (node_modules/handlebars/dist/cjs/handlebars/compiler/compiler.js:557)',
    ],
  ],
  sequelize: [
    /`raw: true`/,
    ['[Symbol.hasInstance] (V8)', 'set (node_modules/sequelize/lib/model.js:2285)', 'Array.map (V8)'],
  ],
  typeorm: [
    /getRawMany\(\)/,
    [
      'Array.map (V8)',
      'c.Ib (node_modules/sql.js/dist/sql-wasm.js:109)',
      'query (node_modules/typeorm/driver/sqljs/SqljsQueryRunner.js:90)',
    ],
    { call: 'Array.map' },
  ],
  mongoose: [
    /lean\(\)/,
    [
      'getDefault (node_modules/mongoose/lib/schemaType.js:1340)',
      'Document (node_modules/mongoose/lib/document.js:178)',
    ],
  ],
  winston: [
    /`sync: false`/,
    [
      'strEscape (node_modules/safe-stable-stringify/index.js:29)',
      '(anonymous) (node_modules/logform/json.js:28)',
      '_transform (node_modules/winston/lib/winston/logger.js:337)',
    ],
  ],
  'a module': [
    /load the module at the start/,
    [
      'Module._compile (node:internal/modules/cjs/loader:1507)',
      'require (node:internal/modules/helpers:182)',
    ],
    { call: 'require' },
  ],
}

for (const [name, [advice, frames, changes]] of Object.entries(PACKAGES)) {
  test(`${name}: ${advice.source}`, () => {
    assert.match(String(adviceFor(name.split(',')[0], frames, changes)), advice)
  })
}

test('a template in a file of its own is a function that its renderer calls', () => {
  const template = { file: '"/srv/list.ejs"', function: 'eval', package: null }
  const frames = ['eval ("/srv/list.ejs":13)', 'list (node_modules/ejs/lib/cjs/ejs.js:649)']
  assert.match(String(adviceFor('', frames, template)), /paginate what is rendered/)
})

test('a module that a handler imports runs as the innermost function', () => {
  const place = { file: 'heavy.mjs', function: '(anonymous)', package: null }
  const frames = ['(anonymous) (heavy.mjs:1)', 'run (node:internal/modules/esm/module_job:325)']
  assert.match(String(adviceFor('', frames, place)), /load the module at the start/)
})

test('advice about pages and streams is for requests and events only', () => {
  const of = (origin, call) => String(adviceFor('', [], { call, package: null, origin }))
  const calls = ['JSON.stringify', 'Array.sort', 'Array.map', 'Map.forEach', 'structuredClone', 'JSON.parse']
  for (const call of calls) {
    assert.match(of('request', call), /paginate|stream|each request|body parser/)
    assert.equal(of('event', call), of('request', call))
    for (const origin of ['background', 'startup'])
      assert.doesNotMatch(of(origin, call), /undefined|paginate|stream|each request|body parser/)
  }
  const [, frames] = PACKAGES['handlebars, rendering']
  assert.match(String(adviceFor('handlebars', frames, { origin: 'background' })), /^render fewer rows/)
})

test('console waits for the terminal', () => {
  assert.match(String(adviceFor('', [], { call: 'console.log', package: null })), /`sync: false`/)
})

test('a package that called the function is not what it did', () => {
  const hooked = [
    ...LIST.slice(0, 1),
    'kareem (node_modules/kareem/index.js:9)',
    'x (node_modules/mongoose/a.js:1)',
  ]
  assert.equal(adviceForCall({ ...SITE, frames: hooked }), undefined)
  const hashed = {
    call: 'crypto.pbkdf2Sync',
    frames: ['pbkdf2Sync (node:internal/crypto/pbkdf2:78)', ...hooked],
  }
  assert.match(String(adviceForCall({ ...SITE, ...hashed })), /crypto\.pbkdf2 with/)
})

'use strict'
// What is advised for stacks that were read in real stalls of packages. test/stalls/blocking-call.program.js has the calls of Node and V8.

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
      'parseVar (node_modules/@babel/parser/lib/index.js:10436)',
      'isExpression (node_modules/constantinople/lib/index.js:31)',
      'visitTag (node_modules/pug-code-gen/index.js:450)',
    ],
  ],
  'pug, rendering': [
    /page what is rendered/,
    ['RegExp.exec (V8)', 'pug_escape (node_modules/pug-runtime/index.js:230)', 'template (eval at wrap:3)'],
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
    /page what is rendered/,
    [
      'prog (node_modules/handlebars/dist/cjs/handlebars/runtime.js:268)',
      'ret (node_modules/handlebars/dist/cjs/handlebars/compiler/compiler.js:557)',
    ],
  ],
  sequelize: [/`raw: true`/, ['set (node_modules/sequelize/lib/model.js:2285)', 'Array.map (V8)']],
  typeorm: [/getRawMany\(\)/, ['transformColumns (node_modules/typeorm/query-builder/transformer/X.js:120)']],
  mongoose: [/lean\(\)/, ['Document (node_modules/mongoose/lib/document.js:178)']],
  winston: [/`sync: false`/, ['Logger.write (node_modules/winston/lib/winston/logger.js:60)']],
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
  assert.match(String(adviceFor('', frames, template)), /page what is rendered/)
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

'use strict'
// The path `/`: the live page for a browser, the list of pages for every other client. The page itself
// contains no data, so it needs no token. It asks for the token and sends the token with each request for
// data.

const { promisify } = require('node:util')
const zlib = require('node:zlib')
const { createHash } = require('node:crypto')
const { readFile, readdir } = require('node:fs/promises')
const path = require('node:path')
const { ownFile } = require('../../core/own-files')
const { urlPath } = require('../../core/url-path')
const { dataHandler, readOnly } = require('../../core/http/endpoints')
const { acceptsGzip } = require('./profile-answers')

/**
 * @import { Handler, Request, Response } from '../../../index.js'
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 */

const gunzip = promisify(zlib.gunzip)
const gzip = promisify(zlib.gzip)
const FOLDER = 'features/admin/page'
const CHARTS = 'vendor/uPlot.iife.min.js'
const CHART_STYLE = 'vendor/uPlot.min.css'
/** The order matters: later files override earlier ones. */
const STYLES = [
  'colors.css',
  'frame.css',
  'health.css',
  'charts.css',
  'tables.css',
  'heat.css',
  'profiles.css',
  'narrow.css',
]
const DOCUMENT = 'index.html'
/** Modules from outside the folder that the page also runs, by the name that its modules require. */
const SHARED = ['../../../core/readable']

/** @typedef {{ policy: string, gzipped: Buffer }} PageDocument */

/** Whether the request is for the page, which contains no data. @param {Request} req */
const asksForPage = ({ url = '', headers: { accept = '' } }) =>
  urlPath(url) === '/' && /\btext\/html\b/i.test(accept)

/**
 * @param {string} listText
 * @param {InternalErrors} internalErrors
 * @returns {Handler}
 */
function livePage(listText, internalErrors) {
  const list = dataHandler('text/plain; charset=utf-8', () => listText)
  /** @type {Promise<PageDocument> | undefined} */
  let document
  const page = readOnly((req, res) => {
    document ??= buildDocument()
    document
      .then((built) => writePage(req, res, built))
      .catch((error) => {
        // The files are missing if a bundler has packed the application. The list of pages needs no files.
        internalErrors.report('page', error)
        document = undefined
        if (res.headersSent) res.destroy()
        else list(req, res)
      })
  })
  return (req, res) => {
    res.setHeader('Vary', 'Accept, Accept-Encoding')
    return (asksForPage(req) ? page : list)(req, res)
  }
}

/** @param {Request} req @param {Response} res @param {PageDocument} document */
async function writePage(req, res, { policy, gzipped }) {
  const takesGzip = acceptsGzip(req)
  const bytes = takesGzip ? gzipped : await gunzip(gzipped)
  res.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': bytes.length,
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-store',
    ...(takesGzip && { 'Content-Encoding': 'gzip' }),
  })
  res.end(/** @type {Buffer} */ (req.method === 'HEAD' ? undefined : bytes))
}

/**
 * Builds one document from the files of page/. It loads nothing else, and its policy lets nothing else run.
 * Its modules are CommonJS, like all of src/. The document is made for the first request, mostly off the
 * event loop, and kept compressed.
 *
 * @returns {Promise<PageDocument>}
 */
async function buildDocument() {
  const [template, styleTexts, charts, modules] = await Promise.all([
    readPart(DOCUMENT),
    Promise.all([CHART_STYLE, ...STYLES].map(readPart)),
    readPart(CHARTS),
    readModules(),
  ])
  const styles = styleTexts.join('\n')
  const script = bundle(modules)
  const html = filled(template, { STYLES: styles, CHARTS: charts, SCRIPT: script })
  return {
    policy: policyOf({ scripts: [charts, script], styles: [styles] }),
    gzipped: await gzip(html, { level: zlib.constants.Z_BEST_COMPRESSION }),
  }
}

/** @param {string} name */
const readPart = async (name) => readFile(ownFile(path.posix.join(FOLDER, name)), 'utf8')

/** @returns {Promise<{ name: string, text: string }[]>} */
async function readModules() {
  const files = (await readdir(path.dirname(ownFile(`${FOLDER}/${DOCUMENT}`))))
    .filter((name) => name.endsWith('.js'))
    .sort()
  const names = [...SHARED, ...files.map((file) => `./${file.slice(0, -'.js'.length)}`)]
  return Promise.all(names.map(async (name) => ({ name, text: await readPart(`${name}.js`) })))
}

/** Wraps each module in a function, as Node does. @param {{ name: string, text: string }[]} modules */
function bundle(modules) {
  const wrapped = modules.map(
    ({ name, text }) => `${JSON.stringify(name)}(exports, require, module) {\n${text}}`
  )
  return `(() => {
const modules = {${wrapped.join(',\n')}}
const loaded = {}

function load(name) {
if (loaded[name] === undefined) modules[name]((loaded[name] = { exports: {} }).exports, load, loaded[name])
return loaded[name].exports
}
load('./main')
})()`
}

/**
 * Fills the marks of the template. A function returns each replacement, because a replacement string would
 * interpret `$&`, which occurs in the code.
 *
 * @param {string} template
 * @param {Record<string, string>} parts
 */
const filled = (template, parts) => template.replace(/\/\*(\w+)\*\//g, (mark, name) => parts[name] ?? mark)

/** @param {{ scripts: string[], styles: string[] }} texts */
function policyOf({ scripts, styles }) {
  /** @param {string[]} texts */
  const hashes = (texts) => texts.map((text) => `'sha256-${hashOf(text)}'`).join(' ')
  return [
    "default-src 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    `script-src ${hashes(scripts)}`,
    `style-src ${hashes(styles)}`,
    "connect-src 'self'",
  ].join('; ')
}

/** @param {string} text */
const hashOf = (text) => createHash('sha256').update(text).digest('base64')

module.exports = { asksForPage, livePage }

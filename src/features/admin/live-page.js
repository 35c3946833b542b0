'use strict'
// The path `/`: the live page for a browser, the list of pages for everything else. The page has no data in it, so that it needs no
// token. It asks for the token and sends it with each request for data.

const { promisify } = require('node:util')
const zlib = require('node:zlib')
const { urlPath } = require('../../core/url-path')
const { dataHandler, readOnly } = require('../../core/http/endpoints')
const { buildDocument } = require('./page-document')
const { acceptsGzip } = require('./profile-answers')

/**
 * @import { Handler, Request, Response } from '../../../index.js'
 * @import { InternalErrors } from '../../core/request/internal-errors'
 * @import { PageDocument } from './page-document'
 */

const gunzip = promisify(zlib.gunzip)

/** Whether the request is for the page: its answer has no data. @param {Request} req */
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
        // The files are missing where a bundler has packed the application: the list needs none.
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

module.exports = { asksForPage, livePage }

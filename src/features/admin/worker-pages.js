'use strict'
// `?worker=NAME` on the pages of profiles: whichever member of a fleet answers passes the request on to the
// named worker. If the client disconnects, the request to that worker ends too.

const { sendText } = require('./profile-answers')
const { urlPath } = require('../../core/url-path')

/** Headers of the client that are passed on to the worker, beside the path. */
const PASSED_HEADERS = ['accept', 'accept-encoding']
/** Headers of the worker's answer that describe its own connection, and are not passed on. */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date'])
const MAX_NAMES = 50

/**
 * @import { ClientRequest, ServerResponse } from 'node:http'
 * @import { Handler, Request } from '../../../index.js'
 * @import { FoundWorker } from '../../core/features'
 * @typedef {{ handler: Handler, findWorker: (name: string) => Promise<FoundWorker>, req: Request,
 *   res: ServerResponse }} Asked
 */

/**
 * @param {Record<string, Handler>} pages of this worker
 * @param {(name: string) => Promise<FoundWorker>} findWorker
 * @returns {Record<string, Handler>} the same pages for any worker
 */
function workerPages(pages, findWorker) {
  return Object.fromEntries(
    Object.entries(pages).map(([path, handler]) => [
      path,
      (req, res) => {
        const name = workerNamed(req.url ?? '')
        if (name === null) return handler(req, res)
        return void answerFor(name, { handler, findWorker, req, res: /** @type {ServerResponse} */ (res) })
      },
    ])
  )
}

/** @param {string} url */
const workerNamed = (url) => new URLSearchParams(url.slice(urlPath(url).length)).get('worker')

/** @param {string} name @param {Asked} asked */
async function answerFor(name, { handler, findWorker, req, res }) {
  try {
    const { isOwn, names, ask } = await findWorker(name)
    if (res.destroyed) return
    if (isOwn) return handler(req, res)
    if (ask === undefined) return sendText(res, { status: 404, text: unknownText(names) })
    const headers = Object.fromEntries(
      PASSED_HEADERS.filter((each) => each in req.headers).map((each) => [
        each,
        /** @type {string} */ (req.headers[each]),
      ])
    )
    passOn(await ask({ method: req.method, path: /** @type {string} */ (req.url), headers }), name, res)
  } catch (error) {
    fail(res, `Worker ${name} ${/** @type {Error} */ (error).message}.`)
  }
}

/** @param {string[]} names */
function unknownText(names) {
  const shown = names.slice(0, MAX_NAMES).join(', ')
  const rest = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : ''
  return `No worker has this name. There are: ${shown}${rest}.`
}

/** @param {ClientRequest} asked @param {string} name @param {ServerResponse} res */
function passOn(asked, name, res) {
  const goOn = () => {}
  // A profile may take longer than the socket timeout of the server. A listener keeps Node from closing the
  // connection at the timeout.
  res.on('timeout', goOn)
  res.once('close', () => asked.destroy())
  asked.once('error', () => fail(res, `Worker ${name} has ended before it answered.`))
  asked.once('response', (answer) => {
    const kept = Object.entries(answer.headers).filter(([header]) => !OF_CONNECTION.has(header))
    res.writeHead(/** @type {number} */ (answer.statusCode), Object.fromEntries(kept))
    answer.on('error', () => res.destroy())
    answer.once('close', () => answer.complete || res.destroy())
    answer.pipe(res)
  })
  if (res.destroyed) asked.destroy()
  else asked.end()
}

/** @param {ServerResponse} res @param {string} text */
function fail(res, text) {
  if (res.destroyed) return
  if (res.headersSent) res.destroy()
  else sendText(res, { status: 502, text })
}

module.exports = { workerPages }

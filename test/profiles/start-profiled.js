'use strict'
// Starts profiled-server.js in a process of its own, with clients for its two ports.

const { once } = require('node:events')
const http = require('node:http')
const { join } = require('node:path')
const { afterRest } = require('../../bench/support/after-rest')
const { requestProfile } = require('../../bench/support/request-profile')
const { startProgram } = require('../support/program')

const FILE = join(__dirname, 'profiled-server.js')
/** A busy machine makes overloads, in which profiles are refused. */
const NO_SHEDDING = { shed: { mode: 'off' } }
/** Over so long the idle time is compared. */
const SPAN_MS = 500

/**
 * @param {import('node:test').TestContext} t
 * @param {{ options?: object, token?: string, timeout?: number, args?: string[] }} [given]
 */
async function startProfiled(t, { options = NO_SHEDDING, token = '', timeout, args = [] } = {}) {
  const { child, closed, next, told } = startProgram('', {
    t,
    file: FILE,
    args: [JSON.stringify(options), token, `${timeout ?? ''}`],
    nodeArgs: args,
    hasChannel: true,
    tellsErrors: true,
  })
  const { port, adminPort } = await next('ports')
  const ask = (question) => {
    child.send(question)
    return next('answer')
  }
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` }
  const atAdmin =
    (method) =>
    (path, { headers = {} } = {}) =>
      afterRest(() => send({ port: adminPort, method, path, headers: { ...authorization, ...headers } }))
  const request = (path) => send({ port, path })
  const share = async (field) => {
    const before = await ask('idle')
    await new Promise((resolve) => setTimeout(resolve, SPAN_MS))
    const after = await ask('idle')
    return (after[field] - before[field]) / (after.atMs - before.atMs)
  }
  /** Two clients ask as fast as they are answered, until the work is done. */
  const loading = async (path, work) => {
    let isDone = false
    const client = async () => {
      while (!isDone) await request(path)
    }
    const clients = [client(), client()]
    try {
      return await work()
    } finally {
      isDone = true
      await Promise.all(clients)
    }
  }
  /** Asks for a profile, and returns when it has begun: a request whose answer has not ended. */
  const begin = async (path) => {
    const { req, res } = await requestProfile({ port: adminPort, path, headers: authorization })
    // It may be cut.
    req.on('error', () => {})
    res.on('error', () => {})
    await once(res, 'data')
    return req
  }
  return {
    ask,
    begin,
    child,
    closed,
    get: atAdmin('GET'),
    idleShare: () => share('idleMs'),
    loading,
    nodeIdleShare: () => share('nodeMs'),
    post: atAdmin('POST'),
    printed: told,
    request,
  }
}

async function send(options) {
  const req = http.request({ host: '127.0.0.1', agent: false, ...options })
  req.end()
  const [res] = await once(req, 'response')
  const body = Buffer.concat(await res.toArray())
  const isJson = res.headers['content-type']?.startsWith('application/json')
  return {
    status: res.statusCode,
    headers: res.headers,
    body,
    get json() {
      return isJson ? JSON.parse(body.toString()) : undefined
    },
  }
}

module.exports = { startProfiled }

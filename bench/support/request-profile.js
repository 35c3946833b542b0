'use strict'
// Asks an admin server for a profile that shows its progress. Such an answer begins when the profile does:
// its first line comes once the profiler has started.

const { once } = require('node:events')
const http = require('node:http')
const { afterRest } = require('./after-rest')

/**
 * @param {{ port: number, path: string, headers?: object }} to
 * @returns {Promise<{ req: import('node:http').ClientRequest, res: import('node:http').IncomingMessage }>}
 *   when the head has come
 */
async function requestProfile(to) {
  let req
  const res = await afterRest(async () => {
    const begun = await begin(to)
    req = begun.req
    return begun.res
  })
  return { req, res }
}

async function begin({ port, path, headers }) {
  const req = http.request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path,
    headers: { ...headers, accept: 'application/x-ndjson' },
    agent: false,
  })
  req.end()
  const [res] = await once(req, 'response')
  return { req, res }
}

module.exports = { requestProfile }

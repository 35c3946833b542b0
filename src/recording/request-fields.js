'use strict'
// What a line in a log shows of a request and its answer, in the shape pino-http gave them: the only place that decides it.
// Of the headers only those known to be harmless show their values, since a secret may be in one of any name; of the URL the
// path, since a query may hold a token; never a body.

const LONGEST_VALUE = 256
const REDACTED = '[Redacted]'
const COLON = 58

const HARMLESS = [
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'accept-ranges',
  'age',
  'allow',
  'cache-control',
  'connection',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'dnt',
  'etag',
  'expect',
  'expires',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'keep-alive',
  'last-modified',
  'origin',
  'pragma',
  'priority',
  'range',
  'retry-after',
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'server',
  'te',
  'traceparent',
  'transfer-encoding',
  'upgrade',
  'upgrade-insecure-requests',
  'user-agent',
  'vary',
  'via',
  'x-correlation-id',
  'x-powered-by',
  'x-request-id',
]

class RequestFields {
  #harmless
  #showsQuery

  /** @param {{ headers?: readonly string[] | undefined, query: boolean }} options further names that may be shown */
  constructor({ headers = [], query }) {
    this.#harmless = new Set([...HARMLESS, ...headers.map((name) => name.toLowerCase())])
    this.#showsQuery = query
  }

  // Hot path where there is an access log: bench/access-log.js.
  ofRequest(req) {
    const { socket, headers } = req
    return {
      id: idOf(req.id, headers),
      method: req.method,
      url: this.#urlOf(req.originalUrl ?? req.url),
      headers: this.#redacted(headers),
      remoteAddress: socket?.remoteAddress,
      remotePort: socket?.remotePort,
    }
  }

  /** @param {number} status 0 where no byte of an answer was sent */
  ofResponse(res, status) {
    if (status === 0) return { statusCode: null }
    return { statusCode: status, headers: this.#redacted(res.getHeaders?.() ?? {}) }
  }

  #urlOf(url) {
    if (typeof url !== 'string') return undefined
    const end = this.#showsQuery ? -1 : url.indexOf('?')
    return url.slice(0, end === -1 ? LONGEST_VALUE : Math.min(end, LONGEST_VALUE))
  }

  #redacted(headers) {
    const shown = {}
    for (const name in headers) {
      const value = headers[name]
      if (this.#harmless.has(name)) shown[name] = String(value).slice(0, LONGEST_VALUE)
      // Not what HTTP/2 has of method and URL in its headers.
      else if (name.charCodeAt(0) !== COLON) shown[name] = REDACTED
    }
    return shown
  }
}

/** What the application has given it, else what its client says. */
function idOf(id, headers) {
  if (typeof id === 'number') return id
  const text = typeof id === 'string' ? id : headers['x-request-id']
  return text?.slice(0, LONGEST_VALUE)
}

module.exports = { RequestFields }

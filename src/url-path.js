'use strict'
// The path of a URL as a request has it: what stands before the query.

function urlPath(url) {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

/** The pathname of a request target, also in absolute form (`GET http://host/path`), which proxies send. */
function pathnameOf(url) {
  const target = urlPath(url)
  return target[0] === '/' ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '') || '/'
}

module.exports = { pathnameOf, urlPath }

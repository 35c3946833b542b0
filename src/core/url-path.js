'use strict'
// Extracts the path from the target of a request.

/** @param {string} url */
function urlPath(url) {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

/** Also handles targets in absolute form (`GET http://host/path`), which proxies send. @param {string} url */
function pathnameOf(url) {
  const target = urlPath(url)
  return target[0] === '/' ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '') || '/'
}

module.exports = { pathnameOf, urlPath }

'use strict'
// The path of a URL as a request has it: what stands before the query.

function urlPath(url) {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

module.exports = { urlPath }

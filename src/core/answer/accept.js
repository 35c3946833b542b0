'use strict'
// Which form of an answer a client prefers: a problem document in JSON, or text.

/** @param {string | undefined} accept the header */
function prefersText(accept) {
  return accept?.includes('text/') && !accept.includes('json') && !accept.includes('*/*')
}

module.exports = { prefersText }

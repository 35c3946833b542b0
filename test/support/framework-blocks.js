'use strict'
// The blocks of code of docs/frameworks.md and docs/content-systems.md, run as they stand there.

const assert = require('node:assert/strict')
const { runBlock } = require('../docs/run-block')
const { pages } = require('../docs/pages')

const PAGES = ['docs/frameworks.md', 'docs/content-systems.md']

/**
 * @param {string} heading
 * @param {Record<string, any>} given values by the name under which the block finds them
 * @returns {Promise<Record<string, any>>} what the block declares
 */
function frameworkBlock(heading, given) {
  const blocks = pages.filter(({ path }) => PAGES.includes(path)).flatMap((page) => page.blocks)
  const block = blocks.find((each) => each.heading === heading && each.language === 'js')
  assert.ok(block !== undefined, `${PAGES.join(' or ')} has a block of JavaScript below ${heading}`)
  return runBlock(block.code, { load: (name) => import(name), ...given })
}

/** Of a snapshot: how many requests each route has, and its errors. */
function figuresOf({ routes, errors }) {
  return {
    routes: Object.fromEntries(
      routes.map(({ method, route, sinceStart }) => [`${method} ${route}`, sinceStart.count])
    ),
    errors: errors.map(({ route, status, type }) => `${type} ${status} ${route}`).sort(),
  }
}

module.exports = { figuresOf, frameworkBlock }

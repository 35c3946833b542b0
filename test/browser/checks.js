'use strict'
// What every page must be: accessible, no wider than the screen, and in the colours that the reader prefers.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

/** @param {import('playwright-core').Page} page @param {string} within a selector */
async function assertAccessible(page, within = 'html') {
  await page.evaluate(AXE)
  const { violations } = await page.evaluate(`axe.run(${JSON.stringify(within)})`)
  assert.deepEqual(
    violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html) })),
    []
  )
}

/** @param {import('playwright-core').Page} page @param {number} width */
async function assertFits(page, width) {
  const widest = Number(await page.evaluate('document.documentElement.scrollWidth'))
  assert.ok(widest <= width, `${widest} pixels`)
}

/** @param {import('playwright-core').Page} page @param {'light' | 'dark'} scheme */
async function assertScheme(page, scheme) {
  const [red] = await page.evaluate(
    `getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)`
  )
  assert.equal(red > 128, scheme === 'light')
}

module.exports = { assertAccessible, assertFits, assertScheme }

'use strict'
// A real Chromium for the tests of the live page. What a page logs, violates or asks of other hosts is
// collected, and fails its test.

const assert = require('node:assert/strict')
const { existsSync, mkdirSync } = require('node:fs')
const path = require('node:path')
const { chromium } = require('playwright-core')

const PLACES = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
const executablePath = PLACES.find((place) => place !== undefined && existsSync(place))
/** Given to `test()` as its option `skip`. */
const missing =
  executablePath === undefined ? 'there is no Chromium: install it, or give its path in CHROMIUM' : false

const launch = () =>
  chromium.launch({
    executablePath: /** @type {string} */ (executablePath),
    // Chromium has no sandbox for root, which CI runs as. The shared memory of a container may be too small
    // for it.
    args: ['--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  })

/**
 * The first request has the document made, for which a busy machine takes longer than a client without a
 * token may stay.
 */
async function untilBuilt(admin) {
  const headers = { Accept: 'text/html' }
  while ((await fetch(admin, { headers }).catch(() => ({ status: 500 }))).status >= 500);
}

/** Runs in the page before its own scripts. */
function collect() {
  const global = /** @type {any} */ (globalThis)
  global.violations = []
  global.shift = 0
  global.document.addEventListener('securitypolicyviolation', (event) =>
    global.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`)
  )
  new global.PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) global.shift += entry.value
  }).observe({ type: 'layout-shift', buffered: true })
}

/**
 * @param {import('node:test').TestContext} t
 * @param {import('playwright-core').Browser} browser
 * @param {string} url
 * @param {{ width?: number, height?: number, scheme?: 'light' | 'dark', mayFail?: boolean }} [options]
 *   mayFail: requests may be refused, which the browser logs
 */
async function openPage(
  t,
  browser,
  url,
  { width = 1280, height = 800, scheme = 'light', mayFail = false } = {}
) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme })
  const page = await context.newPage()
  const faults = []
  page.on('pageerror', (error) => faults.push(`error: ${error.stack}`))
  page.on('console', (message) => {
    if (mayFail && message.text().startsWith('Failed to load resource')) return
    if (message.type() === 'error' || message.type() === 'warning') faults.push(`console: ${message.text()}`)
  })
  const { host } = new URL(url)
  page.on('request', (request) => {
    if (new URL(request.url()).host !== host) faults.push(`another host: ${request.url()}`)
  })
  await page.addInitScript(collect)
  await page.goto(url)
  t.after(() => context.close())
  const checkFaults = async () => {
    const violations = await page.evaluate('violations')
    assert.deepEqual({ faults, violations }, { faults: [], violations: [] })
  }
  return { page, checkFaults }
}

/**
 * Keeps a picture where `SCREENSHOTS` says, for somebody to look at.
 *
 * @param {import('playwright-core').Page} page
 */
async function picture(page, name) {
  const folder = process.env.SCREENSHOTS
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: path.join(folder, `${name}.png`) })
  await page.screenshot({ path: path.join(folder, `${name}-whole.png`), fullPage: true })
}

module.exports = { launch, missing, openPage, picture, untilBuilt }

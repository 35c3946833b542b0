'use strict'
// The table of sixty routes with long names in a real browser: the costliest first, found by a filter, and
// each name to be read in full.

const assert = require('node:assert/strict')
const http = require('node:http')
const { after, before, test } = require('node:test')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')
const { launch, missing, openPage, picture } = require('./browser')
const { assertAccessible, assertFits } = require('./checks')

const PATIENCE = { timeout: 30_000 }
const skip = missing
const ROUTES = 60
const BLOCK_MS = 60
const pathOf = (i) =>
  `/api/v2/organizations/:organizationId/subscriptions/:subscriptionId/line-items/report-${i}`
const COSTLY = pathOf(41)
const LEFT = '/never'

/** @type {import('playwright-core').Browser} */
let browser
before(async () => {
  if (!skip) browser = await launch()
})
after(() => browser?.close())

function block() {
  const until = performance.now() + BLOCK_MS
  while (performance.now() < until);
}

/** A process whose routes have each answered once; a client of the last one has given up. */
async function adminFor(t, { routes = ROUTES } = {}) {
  const spillway = spillwayFor(t, { routes: { label: (req) => req.url }, shed: { mode: 'off' } })
  spillway.pool('connections-of-the-orders', { size: 5, idle: 1, waiting: 2, max: 5 })
  const { get, port } = await serve(
    t,
    spillway.wrap((req, res) => {
      if (req.url === LEFT) return void req.socket.emit('asked')
      if (req.url === COSTLY) block()
      res.end()
    })
  )
  if (routes > 0) {
    for (let i = 0; i < routes; i++) await get(pathOf(i))
    const left = http.get({ port, host: '127.0.0.1', path: LEFT, agent: false }).on('error', () => {})
    while (spillway.snapshot().requests.inFlight === 0) await new Promise((resolve) => setImmediate(resolve))
    left.destroy()
    await ended(spillway, routes + 1)
  }
  const { url } = await spillway.listen({ port: 0, maxRequestsPerSecond: 200 })
  return url
}

const headsOf = (page, id) =>
  page.$$eval(`#${id} thead th`, (heads) => heads.map(({ textContent }) => textContent))
const namesOf = (page) =>
  page.$$eval('#routes tbody > tr:not(.detail) .opener', (openers) =>
    openers.map(({ textContent }) => textContent)
  )

test('the costliest route is the first of sixty, and a filter finds the others', { skip }, async (t) => {
  const { page, checkFaults } = await openPage(t, browser, await adminFor(t))
  await page.waitForSelector('#routes tbody tr', PATIENCE)
  assert.equal((await namesOf(page))[0], `GET ${COSTLY}`)
  assert.equal((await namesOf(page)).length, 12)
  // Other figures of the table are of the last minute.
  assert.ok((await headsOf(page, 'routes')).includes('shed total'))
  const filter = page.getByLabel('Filter routes')
  await filter.fill('organizations REPORT-5')
  const found = (await namesOf(page)).map((name) => name.slice(name.lastIndexOf('-') + 1))
  assert.deepEqual(found.sort(), ['5', ...Array.from({ length: 10 }, (_, i) => String(50 + i))].sort())
  await filter.fill('nowhere')
  await page.locator('#routes .empty', { hasText: 'Nothing matches' }).waitFor(PATIENCE)
  await filter.fill('never')
  const cells = await page.$$eval('#routes tbody td', (all) => all.map(({ textContent }) => textContent))
  assert.equal(cells[6], '100 %')
  await assertAccessible(page)
  await checkFaults()
})

test('a long name is cut in the middle, and whole on hover, by keyboard and for a screen reader', {
  skip,
}, async (t) => {
  const { page } = await openPage(t, browser, await adminFor(t))
  await page.waitForSelector('#routes tbody tr', PATIENCE)
  await assertFits(page, 1280)
  const opener = page.locator('#routes .opener').first()
  const name = opener.locator('.name')
  const isCut = () =>
    name
      .locator('span')
      .first()
      .evaluate((part) => part.scrollWidth > part.clientWidth)
  assert.equal(await isCut(), true)
  // Its end is seen, which is where routes differ.
  const [cell, end] = await Promise.all([
    page.locator('#routes tbody th').first().boundingBox(),
    name.locator('span').last().boundingBox(),
  ])
  assert.ok(end.x + end.width <= cell.x + cell.width)
  assert.equal(await name.getAttribute('title'), `GET ${COSTLY}`)
  assert.equal(await opener.getAttribute('aria-label'), `GET ${COSTLY}`)
  await page.locator('#routes thead button').last().focus()
  await page.keyboard.press('Tab')
  assert.ok(await opener.evaluate((element) => element === document.activeElement))
  const whole = await name.boundingBox()
  assert.ok(whole.height > 1.5 * end.height && whole.x + whole.width <= cell.x + cell.width)
  await picture(page, 'routes')
})

test('all columns of the pools are seen at 1280 pixels', { skip }, async (t) => {
  const { page } = await openPage(t, browser, await adminFor(t))
  await page.waitForSelector('#pools tbody tr', PATIENCE)
  const hidden = await page
    .locator('#pools .scroll')
    .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
  assert.equal(hidden, 0)
  assert.ok((await headsOf(page, 'pools')).includes('timeouts total'))
})

test('a figure of which nothing is known is a dash, never 0 ms', { skip }, async (t) => {
  const { page } = await openPage(t, browser, await adminFor(t, { routes: 0 }))
  await page.waitForSelector('#health[data-healthy="null"]', PATIENCE)
  const totals = Object.fromEntries(
    await page.$$eval('#health .totals > div', (cells) =>
      cells.map(({ children: [name, value] }) => [name.textContent, value.textContent])
    )
  )
  for (const name of ['p50', 'p99', 'errors', 'gave up', 'shed']) assert.equal(totals[name], '–', name)
  assert.match(await page.locator('#charts .keys').nth(2).innerText(), /errors –\s+shed –/)
})

test('nothing moves while figures change', { skip }, async (t) => {
  const { page } = await openPage(t, browser, await adminFor(t, { routes: 10 }))
  await page.waitForSelector('#routes tbody tr', PATIENCE)
  // A finding may move what follows, and on a busy machine the doctor finds that.
  await page.evaluate(`
    const withoutFindings = new CSSStyleSheet()
    withoutFindings.replaceSync('#health .findings { display: none }')
    document.adoptedStyleSheets = [withoutFindings]
    requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.shift = 0 }))
  `)
  for (let i = 0; i < 3; i++) {
    const before = await page.locator('#about').innerText()
    await page.waitForFunction(
      (text) => document.querySelector('#about').innerText !== text,
      before,
      PATIENCE
    )
  }
  const shift = Number(await page.evaluate('shift'))
  assert.ok(shift < 0.02, `a layout shift of ${shift}`)
})

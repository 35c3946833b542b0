'use strict'
// The heat map of an opened route in a real browser, against a real service under load: it shows what the
// process says, to everybody, and asks for it only while it is open.

const assert = require('node:assert/strict')
const path = require('node:path')
const { after, before, test } = require('node:test')
const { minutesOf } = require('../../src/features/admin/page/heat-figures')
const { startProgram } = require('../support/program')
const { launch, missing, openPage, picture, untilBuilt } = require('./browser')
const { assertAccessible, assertFits } = require('./checks')
const { startLoad } = require('./load')

const TOKEN = 'correct-horse-battery-staple'
const SERVICE = path.join(__dirname, 'service.js')
const HOSTILE = `<img src=x onerror="window.harmed = 'route'"><script>window.harmed = 'script'</script>`
const ROUTE = '/reports/:id'
/** For what has no time of its own: a busy machine takes long. */
const PATIENCE = { timeout: 30_000 }
const EVERY_MS = 10_000
const skip = missing

/** @type {import('playwright-core').Browser} */
let browser
before(async () => {
  if (!skip) browser = await launch()
})
after(() => browser?.close())

async function serviceFor(t, env) {
  const program = startProgram('', { t, env, file: SERVICE, hasChannel: true })
  const [line] = await program.until(/^\{.*\}$/m)
  const { url, admin } = JSON.parse(line)
  const load = startLoad(url)
  t.after(load.stop)
  await untilBuilt(admin)
  const heat = async () => {
    const query = new URLSearchParams({ method: 'GET', route: ROUTE })
    const answer = await fetch(`${admin}/routes/heat?${query}`)
    // Before its first request there is no such route.
    return answer.ok ? answer.json() : { columns: [] }
  }
  return { ...program, admin, heat, load, url }
}

/** Opens the row of a route. @param {import('playwright-core').Page} page @param {string} [route] */
async function openRoute(page, route = ROUTE) {
  await page.locator('#routes .opener', { hasText: route }).click(PATIENCE)
  await page
    .locator('#routes .heat rect')
    .first()
    .waitFor({ state: 'attached', ...PATIENCE })
  return page.locator('#routes .heat')
}

/** Asks until the process has taken a column. */
async function untilColumn(heat) {
  while ((await heat()).columns.length < 2) await new Promise((resolve) => setTimeout(resolve, 200))
}

for (const scheme of /** @type {const} */ (['light', 'dark'])) {
  for (const width of [1280, 390]) {
    test(`${scheme}, ${width} pixels wide: the whole picture is seen, nothing jumps, and it is accessible`, {
      skip,
    }, async (t) => {
      const { admin } = await serviceFor(t)
      const { page, checkFaults } = await openPage(t, browser, `${admin}/`, {
        scheme,
        width,
        height: width === 390 ? 844 : 800,
      })
      let answer = () => {}
      const held = new Promise((resolve) => (answer = () => resolve(undefined)))
      await page.route(/routes\/heat/, (route) => held.then(() => route.continue()))
      await page.locator('#routes .opener', { hasText: ROUTE }).click(PATIENCE)
      const heat = page.locator('#routes .heat')
      const heightOf = async () => (await heat.boundingBox())?.height
      const empty = await heightOf()
      await assertAccessible(page, '#routes')
      answer()
      await heat
        .locator('rect')
        .first()
        .waitFor({ state: 'attached', ...PATIENCE })
      assert.equal(await heightOf(), empty)
      for (const part of ['svg', '.legend', 'figcaption']) {
        const { x, width: wide } = (await heat.locator(part).boundingBox()) ?? assert.fail(part)
        assert.ok(x >= 0 && wide > 250 && x + wide <= width, `${part} from ${x}, ${wide} wide`)
      }
      // Each colour can be told from what is behind it.
      const [back, ...fills] = await heat.evaluate((element) => {
        const { getComputedStyle } = /** @type {any} */ (globalThis)
        const fillsOf = [...element.querySelectorAll('.legend i')].map(
          (key) => getComputedStyle(key).backgroundColor
        )
        return [getComputedStyle(element.querySelector('svg')).backgroundColor, ...fillsOf]
      })
      for (const fill of fills) assert.ok(contrastOf(fill, back) > 1.8, `${fill} on ${back}`)
      await heat.locator('summary').click()
      await assertAccessible(page, '#routes')
      await assertFits(page, width)
      await checkFaults()
      await picture(page, `heat-${scheme}-${width}`)
    })
  }
}

const luminanceOf = (color) => {
  const [red, green, blue] = color
    .match(/\d+/g)
    .map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
const contrastOf = (one, other) => {
  const [light, dark] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

test('a page that is opened late has what was before, as a picture and as a table: what the process says', {
  skip,
}, async (t) => {
  const { admin, heat, load } = await serviceFor(t)
  await untilColumn(heat)
  await load.stop()
  const { page, checkFaults } = await openPage(t, browser, `${admin}/`)
  const shown = await openRoute(page)
  const said = await heat()
  const cells = said.columns.flatMap((column) => column.cells)
  assert.equal(await shown.locator('rect').count(), cells.length)
  const requests = cells.reduce((sum, [, each]) => sum + each, 0)
  assert.match(
    (await shown.locator('svg').getAttribute('aria-label')) ?? '',
    new RegExp(`^GET ${ROUTE}, heat map of its latencies: ${requests} requests,`)
  )
  await shown.locator('summary').click()
  const rows = await shown
    .locator('tbody tr')
    .evaluateAll((elements) =>
      elements.map((row) => [...row.querySelectorAll('td')].map((cell) => Number(cell.textContent)))
    )
  const minutes = minutesOf(said)
  const used = [...new Set(minutes.flatMap((minute) => [...minute.requests.keys()]))].sort((a, b) => b - a)
  assert.deepEqual(
    rows,
    used.map((row) => minutes.map((minute) => minute.requests.get(row) ?? 0))
  )
  // The route waits for 30 ms, and on a busy machine for longer.
  const ranges = await shown.locator('tbody th').allInnerTexts()
  const [, lowest, unit] = /^(\S+) (ms|s) to \S+ m?s$/.exec(ranges.at(-1) ?? '') ?? assert.fail(ranges.join())
  assert.ok(unit === 's' || Number(lowest) >= 25, ranges.join())
  // The cell under the pointer is said in words.
  const { x, y, width, height } = (await shown.locator('rect').last().boundingBox()) ?? assert.fail()
  await page.mouse.move(x + width / 2, y + height / 2)
  assert.match(
    await shown.locator('.heat-note').innerText(),
    /^[\d:]{8} to [\d:]{8}, .+ to .+: \d+ requests$/
  )
  await checkFaults()
})

test('by keyboard: the table opens, and the focus stays in it while the figures change', {
  skip,
}, async (t) => {
  const { admin } = await serviceFor(t)
  const { page } = await openPage(t, browser, `${admin}/`)
  await page.locator('#routes .opener', { hasText: ROUTE }).focus(PATIENCE)
  await page.keyboard.press('Enter')
  const figures = page.locator('#routes .detail .details')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const region = page.locator('.heat [role=region]')
  await region.locator('tbody tr').first().waitFor(PATIENCE)
  await page.keyboard.press('Tab')
  const first = await figures.innerText()
  await page.waitForFunction(
    (text) => document.querySelector('#routes .detail .details')?.innerText !== text,
    first,
    PATIENCE
  )
  assert.ok(await region.evaluate((element) => element === document.activeElement))
})

test('it asks again every ten seconds while it is open, and never once it is closed', { skip }, async (t) => {
  const { admin, child, closed } = await serviceFor(t)
  const { page } = await openPage(t, browser, 'about:blank', { mayFail: true })
  await page.clock.install()
  await page.goto(`${admin}/`)
  let asked = 0
  page.on('request', (request) => {
    if (request.url().includes('/routes/heat')) asked++
  })
  const heat = await openRoute(page)
  assert.equal(asked, 1)
  const again = page.waitForResponse(/routes\/heat/, PATIENCE)
  await page.clock.fastForward(EVERY_MS)
  await (await again).finished()
  child.kill('SIGKILL')
  await closed
  // What it has shown stays.
  const note = heat.locator('.heat-note', { hasText: 'Not up to date. The process does not answer.' })
  while (!(await note.isVisible())) await page.clock.fastForward(EVERY_MS)
  assert.ok((await heat.locator('rect').count()) > 0)
  await page.locator('#routes .opener', { hasText: ROUTE }).click()
  await heat.waitFor({ state: 'detached', ...PATIENCE })
  asked = 0
  await page.clock.fastForward(3 * EVERY_MS)
  await page.evaluate('1')
  assert.equal(asked, 0)
})

test('with a token, and with a hostile name, which is shown as text', { skip }, async (t) => {
  const { admin } = await serviceFor(t, { TOKEN })
  const { page } = await openPage(t, browser, `${admin}/`, { mayFail: true })
  await page.locator('#token').fill(TOKEN, PATIENCE)
  await page.keyboard.press('Enter')
  const heat = await openRoute(page, HOSTILE)
  const label = await heat.locator('svg').getAttribute('aria-label')
  assert.ok(label?.startsWith(`GET /${HOSTILE}, heat map`), String(label))
  assert.equal(await page.locator('img').count(), 0)
  assert.equal(await page.evaluate('window.harmed'), undefined)
})

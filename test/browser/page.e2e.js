'use strict'
// The live page in a real browser, against a real service under load: what it shows, to everybody, and that
// it runs nothing but itself.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { hostname } = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')
const readable = require('../../src/core/readable')
const { loopShareOf } = require('../../src/features/admin/page/routes')
const { startProgram } = require('../support/program')
const { launch, missing, openPage, picture, untilBuilt } = require('./browser')
const { assertAccessible, assertFits, assertScheme } = require('./checks')
const { startLoad } = require('./load')

const TOKEN = 'correct-horse-battery-staple'
const SERVICE = path.join(__dirname, 'service.js')
const HOSTILE = `<img src=x onerror="window.harmed = 'route'"><script>window.harmed = 'script'</script>`
/** For what has no time of its own: a busy machine takes long. */
const PATIENCE = { timeout: 30_000 }
const skip = missing

/** @type {import('playwright-core').Browser} */
let browser
before(async () => {
  if (!skip) browser = await launch()
})
after(() => browser?.close())

/** A service with its load, for one test. */
async function serviceFor(t, env) {
  const program = startProgram('', { t, env, file: SERVICE, hasChannel: true })
  const [line] = await program.until(/^\{.*\}$/m)
  const { url, admin } = JSON.parse(line)
  await untilBuilt(admin)
  const load = startLoad(url)
  t.after(load.stop)
  return { ...program, admin, load, url }
}

async function openedFor(t, options, env) {
  const service = await serviceFor(t, env)
  const opened = await openPage(t, browser, `${service.admin}/`, options)
  await opened.page.waitForSelector('#routes tbody tr', PATIENCE)
  return { ...service, ...opened }
}

const getJson = async (url) => (await fetch(url)).json()

/** Until the page shows what the process says at the same moment. */
async function untilSame(read, expected) {
  const giveUpAt = performance.now() + PATIENCE.timeout
  for (;;) {
    const [shown, said] = [await read(), await expected()]
    try {
      return assert.deepEqual(shown, said)
    } catch (error) {
      if (performance.now() > giveUpAt) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

const cellsOf = (page, selector) =>
  page.$$eval(`${selector} tbody > tr:not(.detail)`, (rows) =>
    rows.map((row) =>
      [...row.children].map((cell) => cell.querySelector('.opener')?.textContent ?? cell.textContent)
    )
  )

const factsOf = async (page, section) =>
  Object.fromEntries(
    await page.$$eval(`#${section} table.small tbody tr`, (rows) =>
      rows.map(({ children: [name, value] }) => [name.textContent, value?.textContent])
    )
  )

const totalsOf = async (page) =>
  Object.fromEntries(
    await page.$$eval('#health .totals > div', (cells) =>
      cells.map(({ children: [name, value] }) => [name.textContent, value.textContent])
    )
  )

for (const scheme of /** @type {const} */ (['light', 'dark'])) {
  for (const width of [1280, 390]) {
    test(`${scheme}, ${width} pixels wide: accessible, within the screen, and nothing from elsewhere`, {
      skip,
    }, async (t) => {
      const { page, checkFaults } = await openedFor(t, { scheme, width, height: width === 390 ? 844 : 800 })
      await page.waitForSelector('#stalls tbody tr', PATIENCE)
      for (const section of ['routes', 'slow', 'stalls', 'outgoing'])
        await page.locator(`#${section} .opener`).first().click()
      await page.locator('#health summary').first().click(PATIENCE)
      await assertAccessible(page)
      await assertFits(page, width)
      await assertScheme(page, scheme)
      await checkFaults()
      await picture(page, `page-${scheme}-${width}`)
    })
  }
}

test('one screen says what is wrong: totals and findings, then charts and the costliest routes', {
  skip,
}, async (t) => {
  const { page } = await openedFor(t)
  await page.waitForSelector('#health .findings li', PATIENCE)
  await picture(page, 'one-screen')
  const bottomOf = (selector) =>
    page.locator(selector).evaluate((element) => element.getBoundingClientRect().bottom)
  assert.ok((await bottomOf('#health .findings li:first-child')) < 280)
  // However many findings there are, what follows is low.
  const health = await bottomOf('#health')
  assert.ok((await bottomOf('#charts')) - health < 320)
  assert.ok((await bottomOf('#routes tbody tr:nth-child(3)')) - health < 460)
  assert.equal(await page.locator('#charts canvas').count(), 9)
})

test('each part shows what snapshot() says', { skip }, async (t) => {
  const { admin, load, page, checkFaults } = await openedFor(t)
  await page.waitForSelector('#stalls tbody tr', PATIENCE)
  await page.waitForSelector('#errors tbody tr', PATIENCE)
  await page.locator('#stalls .opener', { hasText: 'login' }).first().waitFor(PATIENCE)
  await load.stop()
  await page.locator('#routes thead button', { hasText: 'Route' }).click()
  const snapshot = () => getJson(`${admin}/snapshot`)
  const { bytes, count, duration, number, percent, routeName, timeOfDay } = readable

  await untilSame(
    () => cellsOf(page, '#routes').then((rows) => rows.map((cells) => cells.slice(0, 9))),
    async () =>
      (await snapshot()).routes
        .sort((a, b) => routeName(a).localeCompare(routeName(b)))
        .map((route) => [
          routeName(route),
          percent(loopShareOf(route)),
          number(route.lastMinute.ratePerSecond),
          ...['p50Ms', 'p95Ms', 'p99Ms'].map((key) => duration(route.lastMinute[key])),
          percent(route.lastMinute.errorRatio),
          percent(route.gaveUp.lastMinute / route.lastMinute.count),
          count(route.shed),
        ])
  )
  await untilSame(
    () =>
      cellsOf(page, '#slow').then((rows) => rows.map(([name, at, status, took]) => [name, at, status, took])),
    async () =>
      (await snapshot()).slowest.map((slow) => [
        routeName(slow),
        timeOfDay(slow.at),
        String(slow.status),
        duration(slow.durationMs),
      ])
  )
  await untilSame(
    () => cellsOf(page, '#stalls').then((rows) => rows.map((cells) => cells.slice(3, 6))),
    async () =>
      (await snapshot()).stalls.sites
        .slice(0, 8)
        .map((site) => [count(site.count), duration(site.totalMs), duration(site.maxMs)])
  )
  await untilSame(
    () => cellsOf(page, '#errors .table'),
    async () =>
      (await snapshot()).errors.map((each) => [
        routeName(each),
        `${each.type}: ${each.message}`,
        each.place.split('/').slice(-2).join('/'),
        String(each.status),
        count(each.count),
        timeOfDay(each.lastAt),
      ])
  )
  await untilSame(
    () =>
      cellsOf(page, '#outgoing').then((rows) =>
        rows.map(([host, calls, , longest]) => [host, calls, longest])
      ),
    async () =>
      (await snapshot()).outgoing.hosts.map(({ host, lastMinute }) => [
        host,
        count(lastMinute.count),
        duration(lastMinute.maxMs),
      ])
  )
  await untilSame(
    async () => {
      const { mode, admitted } = await factsOf(page, 'admission')
      return [mode, admitted]
    },
    async () => {
      const { mode, admitted } = (await snapshot()).admission
      return [mode, count(admitted)]
    }
  )
  await untilSame(
    async () => {
      const totals = await totalsOf(page)
      return [totals['requests/s'], totals.p50, totals.p99, totals.errors]
    },
    async () => {
      const { lastMinute } = (await snapshot()).requests
      const { ratePerSecond, p50Ms, p99Ms, errorRatio } = lastMinute
      return [number(ratePerSecond), duration(p50Ms), duration(p99Ms), percent(errorRatio)]
    }
  )
  const { runtime, releases } = await snapshot()
  assert.equal((await factsOf(page, 'memory')).limit, bytes(runtime.heap.limitBytes))
  assert.match(await page.locator('#releases').innerText(), new RegExp(`this: ${releases.current.version}`))
  assert.match(await page.locator('#workers').innerText(), /the only process/)
  await page.locator('#oldest', { hasText: 'No request is in flight' }).waitFor(PATIENCE)
  const options = await getJson(`${admin}/config`)
  const shown = await factsOf(page, 'options')
  assert.equal(shown.targetDelay, String(options.shed.targetDelay))
  assert.equal(shown.parts, String(options.insight.parts))
  const login = page.locator('#stalls .opener', { hasText: 'login' }).first()
  assert.match(await login.innerText(), /calling pbkdf2Sync$/)
  await login.click()
  assert.match(await page.locator('#stalls .stack').innerText(), /login \(.*service\.js:\d+/)
  await checkFaults()
})

test('a finding appears within ten seconds of its fault, and opens its evidence', { skip }, async (t) => {
  const { page, load, checkFaults } = await openedFor(t)
  // The doctor claims nothing of a process that has just started.
  await page.waitForSelector('#health[data-healthy="true"], #health[data-healthy="false"]', PATIENCE)
  await load.get('/break')
  const finding = page.locator('#health [data-problem="errors"]', { hasText: 'GET /orders/:id' })
  await finding.waitFor({ timeout: 10_000 })
  assert.match(await finding.innerText(), /Look for TypeError of GET \/orders\/:id in the log/)
  assert.ok(await finding.locator('.evidence').isHidden())
  await finding.locator('summary').click()
  assert.match(await finding.locator('.evidence').innerText(), /failed requests of the route\s+\d+ requests/)
  assert.match(await finding.innerText(), /TypeError/)
  assert.match(await page.title(), /^\(\d+\) (?:browser\/service\.js|spillway) · 1\.4\.0/)
  // The totals stay beside the findings.
  assert.match((await totalsOf(page)).p99, /\d m?s$/)
  await checkFaults()
})

test('hostile names and messages are shown as text', { skip }, async (t) => {
  const { page, checkFaults } = await openedFor(t)
  const places = {
    '#routes tbody': `GET /${HOSTILE}`,
    '#errors tbody': HOSTILE,
    '#slow tbody': `<img src=x onerror="window.harmed = 'id'">`,
    '#errors .details': `HostileWarning: ${HOSTILE}`,
    '#health .findings': `GET /${HOSTILE}`,
  }
  for (const [place, text] of Object.entries(places))
    await page.locator(place, { hasText: text }).first().waitFor(PATIENCE)
  assert.equal(await page.locator('img').count(), 0)
  assert.equal(await page.locator('script').count(), 2)
  assert.equal(await page.evaluate('window.harmed'), undefined)
  await checkFaults()
})

test('by keyboard: a column is sorted, a row opens, and both stay so while figures change', {
  skip,
}, async (t) => {
  const { page } = await openedFor(t)
  const head = page.locator('#routes th', { hasText: 'p99' })
  await head.locator('button').focus()
  await page.keyboard.press('Enter')
  assert.equal(await head.getAttribute('aria-sort'), 'descending')
  await page.keyboard.press('Enter')
  assert.equal(await head.getAttribute('aria-sort'), 'ascending')
  assert.equal(await page.locator('#routes [aria-sort]').count(), 1)
  const opener = page.locator('#routes .opener', { hasText: 'GET /users/:id' })
  await opener.focus()
  await page.keyboard.press('Space')
  assert.equal(await opener.getAttribute('aria-expanded'), 'true')
  const detail = page.locator('#routes .detail')
  const first = await detail.innerText()
  await page.waitForFunction(
    (text) => document.querySelector('#routes .detail')?.innerText !== text,
    first,
    PATIENCE
  )
  assert.match(first, /Latency[\s\S]*p99\.9/)
  assert.ok(await opener.evaluate((element) => element === document.activeElement))
})

test('a lost connection is shown and mended, and the page then shows the new process', {
  skip,
}, async (t) => {
  const { admin, child, closed, page } = await openedFor(t, { mayFail: true })
  child.kill('SIGKILL')
  await closed
  await page.locator('#connection', { hasText: 'Connection lost' }).waitFor(PATIENCE)
  await picture(page, 'page-lost')
  await serviceFor(t, { ADMIN_PORT: new URL(admin).port, VERSION: '1.4.1' })
  await page.locator('[data-connection="open"]').waitFor(PATIENCE)
  await page.locator('#about', { hasText: '1.4.1' }).waitFor(PATIENCE)
  // What it has seen of the process before stays, with a mark where the next release began.
  for (const release of ['release 1.4.0', 'release 1.4.1'])
    await page.locator('#charts .marks', { hasText: release }).waitFor(PATIENCE)
})

test('it says which service, release, machine and process it speaks of', { skip }, async (t) => {
  const { child, page } = await openedFor(t, {}, { OTEL_SERVICE_NAME: 'coffee' })
  assert.equal(await page.locator('h1').innerText(), 'coffee')
  const names = `1\\.4\\.0.* · host ${hostname()} · pid ${child.pid}`
  assert.match(await page.locator('#about').innerText(), new RegExp(`^${names} · up \\d`))
  assert.match(await page.title(), new RegExp(`coffee · ${names}$`))
})

test('on a phone findings, totals and routes come first, and sections without content are folded', {
  skip,
}, async (t) => {
  const { page } = await openedFor(t, { width: 390, height: 844 })
  await page.waitForSelector('#health .findings li', PATIENCE)
  const tops = await page.$$eval('#health, #routes, #charts, #slow, #stalls', (sections) =>
    sections.map((section) => [section.id, section.getBoundingClientRect().top])
  )
  const order = tops.sort(([, a], [, b]) => a - b).map(([id]) => id)
  assert.deepEqual(order, ['health', 'routes', 'charts', 'slow', 'stalls'])
  const opened = await page.$$eval('#sections > section', (sections) =>
    sections.filter((section) => section.querySelector('details').open).map(({ id }) => id)
  )
  for (const id of ['routes', 'slow', 'outgoing', 'memory']) assert.ok(opened.includes(id), id)
  for (const id of ['pools', 'sockets', 'workers', 'options']) assert.ok(!opened.includes(id), id)
  // No text of a finding is wider than its card.
  for (const width of await page.$$eval('#health .findings li', (items) =>
    items.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
  ))
    assert.ok(width <= 0)
})

test('the token is asked for once, and kept in the tab', { skip }, async (t) => {
  const { admin } = await serviceFor(t, { TOKEN })
  const { page } = await openPage(t, browser, `${admin}/`, { mayFail: true })
  await page.locator('#sign-in').waitFor(PATIENCE)
  await picture(page, 'page-token')
  await page.locator('#token').fill('this-is-not-the-token')
  await page.keyboard.press('Enter')
  await page.locator('#sign-in-error', { hasText: 'does not accept' }).waitFor(PATIENCE)
  await page.locator('#token').fill(TOKEN)
  await page.keyboard.press('Enter')
  await page.waitForSelector('#routes tbody tr', PATIENCE)
  await page.locator('#options', { hasText: 'targetDelay' }).waitFor(PATIENCE)
  await page.reload()
  await page.waitForSelector('#routes tbody tr', PATIENCE)
  assert.ok(await page.locator('#sign-in').isHidden())
  assert.ok(!page.url().includes(TOKEN))
  assert.deepEqual(await page.context().cookies(), [])
})

test('it works behind a path prefix, with and without a slash at its end', { skip }, async (t) => {
  const { admin } = await serviceFor(t)
  const proxy = http.createServer(({ url = '', headers: { host: _, ...headers } }, res) => {
    if (!url.startsWith('/ops/shop')) return void res.writeHead(404).end()
    const request = http.get(
      `${admin}${url.slice('/ops/shop'.length) || '/'}`,
      { headers, agent: false },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(res)
      }
    )
    request.on('error', () => res.destroy())
    res.on('close', () => request.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => proxy.close().closeAllConnections())
  const { port } = /** @type {import('node:net').AddressInfo} */ (proxy.address())
  for (const end of ['', '/']) {
    const { page, checkFaults } = await openPage(t, browser, `http://127.0.0.1:${port}/ops/shop${end}`)
    await page.waitForSelector('#routes tbody tr', PATIENCE)
    await page.locator('#options', { hasText: 'targetDelay' }).waitFor(PATIENCE)
    await checkFaults()
  }
})

'use strict'
// A report in a real browser, opened as a file: it shows what the service measured, to everybody, on paper
// too; it asks for nothing and runs nothing, whatever the service is called.

const assert = require('node:assert/strict')
const { mkdtempSync, readFileSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { after, before, test } = require('node:test')
const { readRun } = require('../../src/features/admin/report/document')
const { count, duration, number, percent, routeName, timeOfDay } = require('../../src/core/readable')
const { runProgram } = require('../cli/program')
const { startProgram } = require('../support/program')
const { launch, missing, openPage, picture } = require('./browser')
const { assertAccessible, assertFits, assertScheme } = require('./checks')
const { startLoad } = require('./load')

const SERVICE = path.join(__dirname, 'service.js')
const HOSTILE = `<img src=x onerror="window.harmed = 'route'"><script>window.harmed = 'script'</script>`
const PATIENCE = { timeout: 30_000 }
/** The width of a page of A4 within its margins, in pixels. */
const A4_WIDTH = 695
const skip = missing

/** What the run asks the service, some of it with a fault. */
const ASK = `(async () => {
  const get = async (path, headers) => (await fetch(process.argv[1] + path, { headers })).text()
  for (let i = 0; i < 60; i++) await Promise.all([get('/users/' + i), get('/prices'), get('/reports/7'), get('/orders/5')])
  for (let i = 0; i < 4; i++) await get('/hostile', { 'X-Request-Id': '<img src=x onerror="window.harmed = 1">' })
  for (let i = 0; i < 3; i++) await get('/login')
})()`
const ASKED = 60 * 4 + 4 + 3
const POLL_MS = 100

/** @type {import('playwright-core').Browser} */
let browser
let folder
/** @type {{ file: string, snapshot: any }} */
let report
const ends = []
before(async () => {
  if (skip) return
  browser = await launch()
  folder = mkdtempSync(path.join(tmpdir(), 'spillway-report-'))
  const service = await serviceFor({ after: (end) => ends.push(end) })
  const file = path.join(folder, 'report.html')
  const title = `Shop ${HOSTILE}`
  const args = ['report', service.admin, '--title', title, '--out', file]
  const { code, err } = await runProgram([...args, '--', process.execPath, '-e', ASK, service.url])
  assert.equal(code, 0, err)
  report = { file, snapshot: await snapshotOf(service) }
})
after(async () => {
  await browser?.close()
  for (const end of ends) end()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

/** With all that the run has asked: the admin server answers with a snapshot of up to a second ago. */
async function snapshotOf({ admin }) {
  for (;;) {
    const snapshot = await (await fetch(`${admin}/snapshot`)).json()
    if (snapshot.requests.sinceStart.count >= ASKED) return snapshot
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

async function serviceFor(t) {
  const program = startProgram('', { t, file: SERVICE, hasChannel: true })
  const [line] = await program.until(/^\{.*\}$/m)
  return JSON.parse(line)
}

async function openedFor(t, file, options) {
  const opened = await openPage(t, browser, pathToFileURL(file).href, options)
  const requests = []
  opened.page.on('request', (request) => requests.push(request.url()))
  await opened.page.reload()
  return { ...opened, requests }
}

const cellsOf = (page, section) =>
  page.$$eval(`#${section} tbody tr`, (rows) =>
    rows.map((row) => [...row.children].map((cell) => cell.textContent))
  )

for (const scheme of /** @type {const} */ (['light', 'dark'])) {
  for (const width of [1280, 390]) {
    test(`${scheme}, ${width} pixels wide: accessible, within the screen, and no request but for itself`, {
      skip,
    }, async (t) => {
      const options = { scheme, width, height: width === 390 ? 844 : 800 }
      const { page, requests, checkFaults } = await openedFor(t, report.file, options)
      assert.deepEqual(requests, [pathToFileURL(report.file).href])
      await assertAccessible(page)
      await assertFits(page, width)
      await assertScheme(page, scheme)
      await checkFaults()
      await picture(page, `report-${scheme}-${width}`)
    })
  }
}

test('its figures are those that the service has measured', { skip }, async (t) => {
  const { page, checkFaults } = await openedFor(t, report.file)
  // The run is all that this service has done.
  const { routes, errors, requests } = report.snapshot
  const run = readRun(readFileSync(report.file, 'utf8'))
  const seconds = (run.to - run.from) / 1000
  assert.deepEqual(
    (await cellsOf(page, 'routes')).map(([route, all, perSecond, failed, share, shed, , ...latencies]) => [
      route,
      all,
      perSecond,
      failed,
      share,
      shed,
      ...latencies,
    ]),
    routes
      .filter(({ sinceStart }) => sinceStart.count > 0)
      .sort((a, b) => b.sinceStart.count - a.sinceStart.count)
      .map((route) => {
        const { sinceStart, outcomes } = route
        const failed = outcomes.errored + outcomes.timed_out
        return [
          routeName(route),
          count(sinceStart.count),
          number(sinceStart.count / seconds),
          count(failed),
          percent(failed / sinceStart.count),
          count(route.shed),
          ...['p50Ms', 'p95Ms', 'p99Ms', 'maxMs'].map((key) => duration(sinceStart[key])),
        ]
      })
  )
  const summary = Object.fromEntries(await cellsOf(page, 'summary'))
  assert.deepEqual(
    [summary.requests, summary.p50, summary.p99, summary.max],
    [
      count(requests.sinceStart.count),
      ...['p50Ms', 'p99Ms', 'maxMs'].map((key) => duration(requests.sinceStart[key])),
    ]
  )
  assert.deepEqual(
    (await cellsOf(page, 'errors')).slice(0, errors.length),
    errors.map((each) => [
      routeName(each),
      `${each.type}: ${each.message}`,
      each.place.split('/').slice(-2).join('/'),
      String(each.status),
      count(each.count),
      timeOfDay(each.lastAt),
    ])
  )
  assert.match(await page.locator('#stalls').innerText(), /login/)
  assert.equal(await page.locator('#curves svg[role=img]').count(), 9)
  assert.equal(await page.locator('#curves .figures').count(), 9)
  await checkFaults()
})

test('hostile names and messages are shown as text', { skip }, async (t) => {
  const { page, checkFaults } = await openedFor(t, report.file)
  assert.equal(await page.locator('h1').innerText(), `Shop ${HOSTILE}`)
  assert.ok((await page.locator('#routes').innerText()).includes(`GET /${HOSTILE}`))
  assert.ok((await page.locator('#errors').innerText()).includes(HOSTILE))
  assert.equal(await page.locator('img').count(), 0)
  assert.equal(await page.locator('script').count(), 1)
  assert.equal(await page.evaluate('window.harmed'), undefined)
  await checkFaults()
})

test('on paper it is light, and as wide as the paper', { skip }, async (t) => {
  const { page } = await openedFor(t, report.file, { scheme: 'dark', width: A4_WIDTH })
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  const [red] = await page.evaluate(
    `getComputedStyle(document.querySelector('.findings li, main')).color.match(/\\d+/g).map(Number)`
  )
  assert.ok(red < 128)
  await assertFits(page, A4_WIDTH)
  const pages = (await page.pdf({ preferCSSPageSize: true })).toString('latin1').match(/\/Type\s*\/Page\b/g)
  assert.ok(pages !== null && pages.length < 10, `${pages?.length} pages`)
})

test('the live page saves what it shows', { skip }, async (t) => {
  const { url, admin } = await serviceFor(t)
  const load = startLoad(url)
  t.after(load.stop)
  // On a slow machine the server may ask for a rest first, with a status that the browser logs.
  const { page, checkFaults } = await openPage(t, browser, `${admin}/`, { mayFail: true })
  await page.waitForSelector('#routes tbody tr', PATIENCE)
  // Before the first second is recorded there is nothing to save.
  await page.waitForFunction(
    () => /\d/.test(document.querySelector('#charts .keys')?.textContent ?? ''),
    undefined,
    PATIENCE
  )
  let download
  while (download === undefined) {
    const downloading = page.waitForEvent('download', { timeout: 5000 }).catch(() => undefined)
    await page.locator('button', { hasText: 'Save report' }).click()
    download = await downloading
  }
  assert.match(download.suggestedFilename(), /^spillway-report-\d{8}-\d{6}\.html$/)
  const file = path.join(folder, 'saved.html')
  await download.saveAs(file)
  const run = readRun(readFileSync(file, 'utf8'))
  assert.ok(run !== undefined && run.curves.rows.length > 0)
  await checkFaults()
  const saved = await openedFor(t, file)
  assert.ok((await saved.page.locator('#routes').innerText()).includes('GET /users/:id'))
  await saved.checkFaults()
})

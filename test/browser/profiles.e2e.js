'use strict'
// The section Profiles of the live page in a real browser: it takes profiles of a real service, and shows
// them as tables and a flame graph.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const path = require('node:path')
const { gunzipSync } = require('node:zlib')
const { after, before, test } = require('node:test')
const { startProfiledCluster } = require('../support/profiled-cluster')
const { startProgram } = require('../support/program')
const { launch, missing, openPage, picture, untilBuilt } = require('./browser')
const { assertAccessible, assertFits } = require('./checks')

const TOKEN = 'correct-horse-battery-staple'
const SERVICE = path.join(__dirname, 'service.js')
/** For what has no time of its own: a busy machine takes long. */
const PATIENCE = { timeout: 30_000 }
const OTHER = 'Another profile is being taken. Wait until it has ended.'
const skip = missing

/** @type {import('playwright-core').Browser} */
let browser
before(async () => {
  if (!skip) browser = await launch()
})
after(() => browser?.close())

/** A page of a service that is asked for one path, one request after the other. */
async function openedFor(t, { requests, env, ...options }) {
  const program = startProgram('', { t, env, file: SERVICE, hasChannel: true })
  const [line] = await program.until(/^\{.*\}$/m)
  const { url, admin } = JSON.parse(line)
  await untilBuilt(admin)
  let isAsking = requests !== undefined
  const ask = async () => {
    while (isAsking) await fetch(`${url}${requests}`).then((answer) => answer.text())
  }
  const asking = ask().catch(() => {})
  t.after(async () => {
    isAsking = false
    await asking
  })
  return { admin, url, ...(await openPage(t, browser, `${admin}/`, options)) }
}

const buttonOf = (page, name) => page.locator('#profiles').getByRole('button', { name, exact: true })

/** Presses the button when it may be pressed. */
async function take(page, name, seconds) {
  await page.locator('#profiles').scrollIntoViewIfNeeded(PATIENCE)
  await page.getByLabel(`Seconds of the ${name}`).selectOption(String(seconds), PATIENCE)
  await buttonOf(page, name).click(PATIENCE)
}

async function savedBy(page, name) {
  const [download] = await Promise.all([
    page.waitForEvent('download', PATIENCE),
    buttonOf(page, name).click(),
  ])
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) }
}

test('a CPU profile names the function that burns: table, flame graph, search, zoom and files', {
  skip,
}, async (t) => {
  const { page, checkFaults } = await openedFor(t, { requests: '/coffee', env: { TOKEN }, mayFail: true })
  await page.locator('#token').fill(TOKEN)
  await page.keyboard.press('Enter')
  await take(page, 'CPU profile', 5)
  await page.getByRole('button', { name: 'Cancel' }).waitFor(PATIENCE)
  await page.locator('#profiles .refusal', { hasText: OTHER }).waitFor(PATIENCE)
  const rows = page.locator('#profiles .table tbody tr')
  await rows.first().waitFor(PATIENCE)
  assert.match(await rows.first().innerText(), /^grindCoffee browser\/service\.js:\d+\s+application/)

  const flame = page.locator('#profiles .flame')
  const line = page.locator('#profiles .flame-line')
  const frame = flame.getByRole('button', { name: 'grindCoffee', exact: true }).first()
  const root = flame.getByRole('button', { name: '(all)', exact: true })
  const search = page.getByLabel('Search in the flame graph')
  await search.fill('GRINDcoffee')
  assert.ok((await flame.locator('.matched').allInnerTexts()).every((text) => text === 'grindCoffee'))
  assert.match(await page.locator('#profiles').innerText(), /Matches: [5-9]\d %/)
  await assertAccessible(page, '#profiles')
  await search.fill('')
  assert.equal(await flame.locator('.matched').count(), 0)

  const whole = (await root.boundingBox())?.width ?? 0
  await frame.hover()
  assert.match(await line.innerText(), /^grindCoffee · .*browser\/service\.js:\d+ · .* s, \d+ %$/)
  const brew = flame.getByRole('button', { name: 'brew', exact: true }).first()
  assert.ok(((await brew.boundingBox())?.width ?? 0) < whole)
  await brew.click()
  assert.equal((await brew.boundingBox())?.width, whole)
  await page.keyboard.press('ArrowDown')
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'grindCoffee')
  assert.match(await line.innerText(), / % of brew$/)
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  assert.ok(((await brew.boundingBox())?.width ?? 0) <= whole)
  await root.click()
  assert.ok(((await brew.boundingBox())?.width ?? 0) < whole)

  await buttonOf(page, 'Packages').click()
  assert.match(await page.locator('#profiles .table').innerText(), /express/)
  await buttonOf(page, 'Files').click()
  assert.match(await rows.first().innerText(), /browser\/service\.js/)
  await buttonOf(page, 'Functions').click()

  const profile = await savedBy(page, 'Save .cpuprofile')
  assert.match(profile.name, /^spillway-.*\.cpuprofile$/)
  assert.ok(
    JSON.parse(String(profile.bytes)).nodes.some(({ callFrame }) => callFrame.functionName === 'grindCoffee')
  )
  const pprof = await savedBy(page, 'Save pprof')
  assert.ok(gunzipSync(pprof.bytes).includes('grindCoffee'))

  for (const scheme of /** @type {const} */ (['light', 'dark'])) {
    await page.emulateMedia({ colorScheme: scheme })
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      if (width === 390) await assertAccessible(page, '#profiles')
      await assertFits(page, width)
      await page.locator('#profiles').evaluate((element) => element.scrollIntoView())
      await picture(page, `profiles-${scheme}-${width}`)
    }
  }
  await checkFaults()
})

test('a profile that another client takes refuses this one, in a sentence', { skip }, async (t) => {
  const { page, checkFaults } = await openedFor(t, { mayFail: true })
  await page.locator('#profiles').scrollIntoViewIfNeeded(PATIENCE)
  await page.locator('#profiles .take:enabled').first().waitFor(PATIENCE)
  await page.evaluate(`
    window.other = new AbortController()
    fetch('heap?seconds=60', { method: 'POST', signal: other.signal }).catch(() => {})
    document.querySelector('#profiles .take').click()`)
  await page.locator('#profiles', { hasText: OTHER }).waitFor(PATIENCE)
  await page
    .locator('#profiles .take:enabled')
    .first()
    .waitFor({ ...PATIENCE, state: 'detached' })
  await page.evaluate('other.abort()')
  await checkFaults()
})

test('Cancel ends the profile in the process', { skip }, async (t) => {
  const { admin, page, checkFaults } = await openedFor(t, {})
  await take(page, 'CPU profile', 60)
  await page.locator('#profiles .running', { hasText: 'of 60 s' }).waitFor(PATIENCE)
  const refusal = async () => (await (await fetch(`${admin}/profile`)).json()).refusal
  assert.equal(await refusal(), OTHER)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.locator('#profiles', { hasText: 'Cancelled.' }).waitFor(PATIENCE)
  await page.locator('#profiles .take:enabled').first().waitFor(PATIENCE)
  // The request has ended; on a busy machine V8 still stops the profile.
  while ((await refusal()) === OTHER);
  assert.equal(await refusal(), null)
  await checkFaults()
})

test('a finding about the CPU has a button that takes the profile', { skip }, async (t) => {
  const { page, checkFaults } = await openedFor(t, { requests: '/coffee' })
  const finding = page.locator(
    '#health [data-problem="event-loop-blocked"], #health [data-problem="cpu-saturated"]'
  )
  await finding.first().waitFor({ timeout: 60_000 })
  await finding.first().locator('summary').click()
  await finding.first().getByRole('button', { name: 'Take a CPU profile' }).click()
  await page.locator('#profiles .running', { hasText: 'of 10 s' }).waitFor(PATIENCE)
  assert.ok(await page.locator('#profiles .controls').isVisible())
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.locator('#profiles', { hasText: 'Cancelled.' }).waitFor(PATIENCE)
  await checkFaults()
})

test('a heap profile shows first what grew between its two readings', { skip }, async (t) => {
  const { page, checkFaults } = await openedFor(t, { requests: '/keep', mayFail: true })
  await take(page, 'Heap profile', 10)
  const first = page.locator('#profiles .table').first()
  await first.getByText(/^Grew in \d/).waitFor({ timeout: 6 * PATIENCE.timeout })
  assert.match(await first.locator('tbody tr').first().innerText(), /^keepSession /)
  await checkFaults()
})

test('a profile of another worker of the cluster, chosen by its name', { skip }, async (t) => {
  const { members, stop } = await startProfiledCluster()
  t.after(stop)
  const { page, checkFaults } = await openPage(t, browser, `http://127.0.0.1:${members[1].adminPort}/`, {})
  // The page says of which worker it speaks, and the totals of all stand below.
  await page.locator('#about', { hasText: /worker 1, one of \d/ }).waitFor(PATIENCE)
  const [whose] = await page.locator('#health .totals > div').allInnerTexts()
  assert.match(whose, /worker 1\s+all \d workers/)
  await page.locator('#routes-title', { hasText: 'Routes of worker 1' }).waitFor(PATIENCE)
  for (const title of ['gave up', 'shed']) {
    const total = page
      .locator('#health .totals > div')
      .filter({ has: page.locator(`dt:text-is("${title}")`) })
    assert.match(await total.locator('.all').innerText(), /^(–|\d+ %)$/, title)
  }
  const choice = page.locator('#profiles').getByLabel('Of worker')
  await page.locator('#profiles').scrollIntoViewIfNeeded(PATIENCE)
  await choice.selectOption('2', PATIENCE)
  let isAsking = true
  const ask = async () => {
    while (isAsking) await fetch(`http://127.0.0.1:${members[2].port}/`).then((answer) => answer.text())
  }
  const asking = ask()
  await take(page, 'CPU profile', 5)
  await page.getByText('CPU profile of worker 2').waitFor(PATIENCE)
  isAsking = false
  await asking
  const profile = await savedBy(page, 'Save .cpuprofile')
  assert.match(profile.name, new RegExp(`^spillway-${members[2].pid}-`))
  assert.ok(String(profile.bytes).includes('burnInSecond'))
  await assertAccessible(page, '#profiles')
  await checkFaults()
})

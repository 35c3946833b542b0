'use strict'
// `npm run pictures`: makes the pictures in docs/pictures/ of a real service, in a real Chromium and a real
// pseudo-terminal. It takes two minutes, most of which the service runs, so that the charts have something to
// show.

const { writeFileSync } = require('node:fs')
const path = require('node:path')
const { setTimeout: wait } = require('node:timers/promises')
const { launch } = require('../browser/browser')
const { openTerminal } = require('../cli/terminal')
const { startProgram } = require('../support/program')
const { palettePng } = require('./palette-png')
const { terminalSvg } = require('./terminal-svg')

const FOLDER = path.join(__dirname, '../../docs/pictures')
/** Until the charts are worth a look. */
const HISTORY_MS = Number(process.env.HISTORY_MS ?? 100_000)
const PATIENCE = { timeout: 60_000 }
const SIZE = { width: 1280, height: 800 }
const ROWS = 18
const COLUMNS = 100
const BEGIN_FRAME = '\x1b[?2026h\x1b[H'
const END_FRAME = '\x1b[?2026l'

/** What ends when all is done, in place of a test. */
const ends = /** @type {(() => unknown)[]} */ ([])
const t = /** @type {any} */ ({ after: (end) => ends.unshift(end) })

const save = (name, bytes) => {
  writeFileSync(path.join(FOLDER, name), bytes)
  console.log(`${name} ${Math.round(bytes.length / 1000)} kB`)
}

async function main() {
  const env = { OTEL_SERVICE_NAME: 'shop' }
  const program = startProgram('', { t, file: path.join(__dirname, 'shop.js'), hasChannel: true, env })
  const [admin] = await program.until(/^http\S+$/m)
  await wait(HISTORY_MS)
  await pictureOfTop(admin)
  const browser = await launch()
  ends.unshift(() => browser.close())
  for (const scheme of /** @type {const} */ (['light', 'dark'])) {
    const context = await browser.newContext({ viewport: SIZE, colorScheme: scheme })
    const page = await context.newPage()
    await page.goto(admin)
    await page.waitForSelector('#routes tbody tr', PATIENCE)
    await page.waitForSelector('#health .findings li', PATIENCE)
    // The charts are drawn with the next point.
    await wait(2500)
    save(`page-${scheme}.png`, await pictureOf(page))
    if (scheme === 'light') await pictureOfFlame(page)
    await context.close()
  }
}

async function pictureOfFlame(page) {
  await page.locator('#profiles').scrollIntoViewIfNeeded(PATIENCE)
  await page.locator('#profiles').getByRole('button', { name: 'CPU profile', exact: true }).click(PATIENCE)
  const flame = page.locator('#profiles .flame')
  await flame.waitFor(PATIENCE)
  await page.locator('.flame-head').evaluate((element) => {
    element.scrollIntoView()
    element.ownerDocument.defaultView.scrollBy(0, -8)
  })
  await flame.getByRole('button', { name: 'hashPassword', exact: true }).first().hover()
  const { y } = await page.locator('.flame-head').boundingBox()
  const section = await page.locator('#profiles').boundingBox()
  const bottom = Math.min(SIZE.height, section.y + section.height)
  save('flame.png', await pictureOf(page, { x: 0, y: y - 8, width: SIZE.width, height: bottom - y + 8 }))
}

/** @param {import('playwright-core').Page} page @param {any} [clip] */
async function pictureOf(page, clip) {
  const png = await page.screenshot({ ...(clip && { clip }) })
  const blank = await page.context().newPage()
  const { width, height, pixels } = await blank.evaluate(pixelsOf, png.toString('base64'))
  await blank.close()
  return palettePng({ width, height, pixels: Buffer.from(pixels, 'base64') })
}

/** Runs in the browser, which reads its own PNG. @param {string} base64 */
async function pixelsOf(base64) {
  const { createImageBitmap, document, fetch, FileReader, Blob } = /** @type {any} */ (globalThis)
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob())
  const { width, height } = image
  const canvas = Object.assign(document.createElement('canvas'), { width, height })
  const context = canvas.getContext('2d')
  context.drawImage(image, 0, 0)
  const { data } = context.getImageData(0, 0, width, height)
  const text = await new Promise((resolve) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result)
    reader.readAsDataURL(new Blob([data]))
  })
  return { width, height, pixels: text.slice(text.indexOf(',') + 1) }
}

async function pictureOfTop(admin) {
  const terminal = openTerminal(t, ['top', admin], { rows: ROWS, columns: COLUMNS })
  let frames = 0
  // The second one has the rates of a second, the later ones some bars.
  await terminal.until((_lines, text) => (frames = text.split(END_FRAME).length) > 14)
  const written = terminal.written()
  const end = written.lastIndexOf(END_FRAME)
  const frame = written.slice(written.lastIndexOf(BEGIN_FRAME, end) + BEGIN_FRAME.length, end)
  terminal.press('q')
  await terminal.ended()
  // The port is any free one.
  const lines = frame.split(/\r*\n/).map((line) => line.replace(/127\.0\.0\.1:\d+ {2}/, '127.0.0.1:9464   '))
  save('top.svg', Buffer.from(terminalSvg('npx spillway top, of a service in a terminal', lines, COLUMNS)))
}

main().finally(async () => {
  for (const end of ends) await end()
})

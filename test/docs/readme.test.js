'use strict'
// README.md and the pages of docs/ are short, every page begins with the task it solves, and the answers that
// they show are real.

const assert = require('node:assert/strict')
const { describe, it, test } = require('node:test')
const express = require('express')
const { createSpillway } = require('../../src')
const { version } = require('../../package.json')
const { serve } = require('../support/serve')
const { pages } = require('./pages')

const MAX_LINES = 180
const MAX_LINES_OF_A_PAGE = 250
const pageAt = (wanted) => pages.find(({ path }) => path === wanted)
const readme = pageAt('README.md')
const linesOf = ({ text }) => text.split('\n').length - 1
const guides = pages.filter(({ path }) => /^docs\/[\w-]+\.md$/.test(path))

/** The server of the README's Express block. */
async function quickStart(t) {
  const spillway = createSpillway({ logger: false })
  t.after(() => spillway.close())
  const app = express()
  app.use(spillway.express())
  app.get('/users/:id', (req, res) => res.json({ id: req.params.id }))
  app.use(spillway.errorHandler())
  return { spillway, ...(await serve(t, app)) }
}

test(`README.md has at most ${MAX_LINES} lines`, () => {
  assert.ok(linesOf(readme) <= MAX_LINES)
})

test(`a page of docs/ has at most ${MAX_LINES_OF_A_PAGE} lines`, () => {
  assert.ok(guides.length > 0)
  const long = guides.filter((page) => linesOf(page) > MAX_LINES_OF_A_PAGE)
  assert.deepEqual(
    long.map((page) => `${page.path}: ${linesOf(page)}`),
    []
  )
})

test("README.md has the commands that start the demo and the tests, CI's among them", () => {
  assert.match(readme.text, /^npm ci && npm start\b/m)
  assert.match(readme.text, /^npm ci && npm test$/m)
})

test('README.md names the tarball that npm pack writes today, and marks the line of the registry', () => {
  assert.ok(readme.text.includes(`npm install /path/to/clone/spillway-${version}.tgz `))
  assert.match(readme.text, /^npm install spillway +# after the first release$/m)
})

test('every page of docs/ opens with what it is for', () => {
  for (const { path, text } of guides.filter(({ path }) => path !== 'docs/architecture.md')) {
    assert.match(text, /^# .+\n\nThis page (shows|explains|lists|has|maps) /, path)
  }
})

describe('an answer that docs/first-answers.md shows', () => {
  const shown = (url) => {
    const block = pageAt('docs/first-answers.md').blocks.find(({ code }) =>
      new RegExp(`^\\$ curl .*${url}\n`).test(code)
    )
    return block.code.split('\n').slice(1)
  }

  it('of /metrics has series that a server has after two requests', async (t) => {
    const { get } = await quickStart(t)
    await get('/users/7')
    await get('/users/8')
    const series = (line) => line.slice(0, line.lastIndexOf(' '))
    let real
    // The server counts an answer a moment after the client has it.
    do real = (await get('/metrics')).body.split('\n').map(series)
    while (!real.some((line) => line.startsWith('spillway_requests_total')))
    const lines = shown('/metrics').filter((line) => /^\w/.test(line))
    assert.ok(lines.length >= 5)
    for (const line of lines) assert.ok(real.includes(series(line)), line)
  })

  it('of /readyz is the whole answer', async (t) => {
    const { get } = await quickStart(t)
    assert.equal((await get('/readyz')).body, shown('/readyz')[0])
  })

  it('of a rejected request has its headers and its body', async (t) => {
    const { get, spillway } = await quickStart(t)
    spillway.update({ shed: { mode: 'threshold', shortage: () => 1 } })
    let answer
    do answer = await get('/users/7')
    while (answer.status !== 503)
    const [status, ...lines] = shown('/users/7')
    assert.equal(status, 'HTTP/1.1 503 Service Unavailable')
    for (const [, name, value] of lines.join('\n').matchAll(/^([\w-]+): (.+)$/gm)) {
      const real = answer.headers[name.toLowerCase()]
      if (name === 'Retry-After') assert.match(real, /^\d+$/)
      else assert.equal(real, value)
    }
    assert.ok(lines.includes(answer.body), answer.body)
  })
})

describe('docs/snapshot.md', () => {
  /**
   * The keys of an object, of those inside it, and of the first element of each list that has one in both.
   */
  const shapeOf = (shown, real, path = 'snapshot') => {
    if (Array.isArray(shown)) {
      if (shown.length > 0 && real.length > 0) shapeOf(shown[0], real[0], `${path}[]`)
    } else if (typeof shown === 'object' && shown !== null && typeof real === 'object' && real !== null) {
      assert.deepEqual(Object.keys(shown).sort(), Object.keys(real).sort(), path)
      for (const key of Object.keys(shown)) shapeOf(shown[key], real[key], `${path}.${key}`)
    }
  }

  it('shows an object with the keys of a real one', async (t) => {
    const { get, spillway } = await quickStart(t)
    await get('/users/7')
    while (spillway.snapshot().routes.length === 0) await get('/livez')
    const { blocks } = pageAt('docs/snapshot.md')
    shapeOf(JSON.parse(blocks.find(({ language }) => language === 'json').code), {
      ...spillway.snapshot(),
      clientErrors: {},
      internalErrors: {},
      warnings: { counts: {}, recent: [] },
    })
  })
})

'use strict'
// An application that esbuild has packed into one file with Spillway and Express. Alone, what needs a file of
// the package says which. Where the package is installed, everything works. test/toolchains/ has the other
// bundlers.

const assert = require('node:assert/strict')
const { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { test } = require('node:test')
const { buildSync } = require('esbuild')
const { checkAlone, checkInstalled, sourceOf } = require('../support/bundled-app')
const { ROOT } = require('./pack')

/** What an ES module needs for packages in CommonJS: docs/bundles.md has it. */
const BANNER = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/** A metric of the application: the client library is a part of the bundle too. */
const GAUGE = {
  cjs: "new (require('prom-client').Gauge)({ name: 'jobs', help: 'Jobs.' }).set(3)",
  esm: "import { Gauge } from 'prom-client'\nnew Gauge({ name: 'jobs', help: 'Jobs.' }).set(3)",
}

function build(t, format) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-bundle-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'dist', format === 'esm' ? 'app.mjs' : 'app.cjs')
  mkdirSync(join(folder, 'dist'))
  const { warnings } = buildSync({
    stdin: { contents: sourceOf(format) + GAUGE[format], resolveDir: ROOT },
    outfile: file,
    bundle: true,
    platform: 'node',
    format,
    sourcemap: true,
    logLevel: 'silent',
    ...(format === 'esm' && { banner: { js: BANNER } }),
  })
  return { folder, file, warnings }
}

for (const format of /** @type {const} */ (['cjs', 'esm'])) {
  test(`a bundle as ${format} says which files are missing`, async (t) => {
    const { folder, file, warnings } = build(t, format)
    if (warnings.length > 0) throw new Error(JSON.stringify(warnings))
    const { ports, get } = await checkAlone(t, { file, cwd: folder })
    assert.match((await get(ports.admin, '/metrics')).body, /^jobs 3$/m)
  })

  test(`a bundle as ${format} has everything where the package is installed`, async (t) => {
    const { folder, file } = build(t, format)
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(ROOT, join(folder, 'node_modules', 'spillway'), 'junction')
    await checkInstalled(t, { file, cwd: folder, nodeArgs: ['--enable-source-maps'] })
    await checkInstalled(t, { file, cwd: folder })
  })
}

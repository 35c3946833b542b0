// An application with Spillway and Express in one file, by rollup, webpack and Bun, run by Node. Where the
// package is installed everything works; alone, what needs a file says which. test/package/ has esbuild.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} = require('node:fs')
const { tmpdir } = require('node:os')
const { dirname, join } = require('node:path')
const { after, before, describe, test } = require('node:test')
const { promisify } = require('node:util')
const { dependencies } = require('../../package.json')
const { ROOT, pack } = require('../package/pack')
const { checkAlone, checkInstalled, sourceOf } = require('../support/bundled-app')

const run = promisify(execFile)

/** By bundler: from an entry to one file. @type {Record<string, (entry: string, file: string) => Promise<unknown>>} */
const BUNDLERS = {
  async rollup(entry, file) {
    const { rollup } = await import('rollup')
    const [commonjs, json, nodeResolve] = await Promise.all(
      ['commonjs', 'json', 'node-resolve'].map(
        async (name) => (await import(`@rollup/plugin-${name}`)).default
      )
    )
    const bundle = await rollup({
      input: entry,
      plugins: [nodeResolve({ preferBuiltins: true }), commonjs(), json()],
      onwarn() {},
    })
    await bundle.write({ file, format: 'cjs', sourcemap: true, inlineDynamicImports: true })
    await bundle.close()
  },
  async webpack(entry, file) {
    const webpack = require('webpack')
    const stats = await promisify(webpack)({
      entry,
      target: 'node',
      mode: 'none',
      devtool: 'source-map',
      output: { path: dirname(file), filename: 'app.cjs' },
    })
    assert.deepEqual(stats?.compilation.errors, [])
  },
  async Bun(entry, file) {
    const bun = join(__dirname, 'node_modules/.bin/bun')
    const flags = [
      '--target=node',
      '--format=cjs',
      '--sourcemap=linked',
      '--outdir=dist',
      '--entry-naming=app.cjs',
    ]
    await run(bun, ['build', entry, ...flags], { cwd: dirname(entry) })
    assert.ok(existsSync(file))
  },
}

/** The tarball, unpacked once. */
let unpacked
before(async () => {
  unpacked = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-packed-')))
  const { filename } = await pack('--pack-destination', unpacked)
  mkdirSync(join(unpacked, 'spillway'))
  await run('tar', ['-xzf', filename, '-C', 'spillway', '--strip-components=1'], { cwd: unpacked })
})
after(() => rmSync(unpacked, { recursive: true, force: true }))

/** A project with the package, its dependencies and Express. */
function projectFor(t) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-bundle-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'node_modules/@opentelemetry'), { recursive: true })
  for (const name of [...Object.keys(dependencies), 'express'])
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), 'junction')
  cpSync(join(unpacked, 'spillway'), join(folder, 'node_modules/spillway'), { recursive: true })
  const entry = join(folder, 'app.cjs')
  writeFileSync(entry, sourceOf('cjs'))
  return { folder, entry, file: join(folder, 'dist/app.cjs') }
}

for (const [name, bundle] of Object.entries(BUNDLERS))
  describe(name, () => {
    test('a bundle has everything where the package is installed, and else says which files are missing', async (t) => {
      const { folder, entry, file } = projectFor(t)
      await bundle(entry, file)
      const stall = await checkInstalled(t, { file, cwd: folder, nodeArgs: ['--enable-source-maps'] })
      // The source map names the source again. What Spillway adds to the stack is left out.
      assert.match(stall.file, /app\.cjs$/)
      assert.deepEqual(
        stall.frames.filter((frame) => frame.includes('node_modules/spillway')),
        []
      )
      rmSync(join(folder, 'node_modules'), { recursive: true })
      await checkAlone(t, { file, cwd: folder })
    })
  })

// The types of the packed package under every TypeScript from 5.6 to 7, with every strict flag, by each way
// to resolve modules.

const { execFile } = require('node:child_process')
const {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} = require('node:fs')
const { tmpdir } = require('node:os')
const { dirname, join } = require('node:path')
const { after, before, test } = require('node:test')
const assert = require('node:assert/strict')
const { promisify } = require('node:util')
const { dependencies } = require('../../package.json')
const { ROOT, pack } = require('../package/pack')

const run = promisify(execFile)
const STRICTEST = join(ROOT, 'test/types/strictest')
const COMPILERS = {
  5.6: 'test/toolchains/node_modules/typescript-5.6/bin/tsc',
  5.9: 'test/toolchains/node_modules/typescript-5.9/bin/tsc',
  6: 'test/toolchains/node_modules/typescript-6/bin/tsc',
  7: 'node_modules/typescript/bin/tsc',
  'native preview': 'test/toolchains/node_modules/@typescript/native-preview/bin/tsgo',
}

let folder
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-types-'))
  const { filename } = await pack('--pack-destination', folder)
  const unpacked = join(folder, 'node_modules/spillway')
  mkdirSync(unpacked, { recursive: true })
  await run('tar', ['-xzf', filename, '-C', unpacked, '--strip-components=1'], { cwd: folder })
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), link, 'junction')
  }
  for (const [name, files] of [
    ['nodenext', ['app.mts', 'app.cts']],
    ['bundler', ['app.mts']],
  ]) {
    mkdirSync(join(folder, name))
    for (const file of files) copyFileSync(join(STRICTEST, file), join(folder, name, file))
    const { compilerOptions } = JSON.parse(
      readFileSync(join(STRICTEST, 'tsconfig.json'), 'utf8').replace(/^\s*\/\/.*$/gm, '')
    )
    const resolution = name === 'bundler' ? { module: 'preserve', moduleResolution: 'bundler' } : {}
    writeFileSync(
      join(folder, name, 'tsconfig.json'),
      // The declarations of packages around ours are not what is checked.
      JSON.stringify({ compilerOptions: { ...compilerOptions, ...resolution, skipLibCheck: true } })
    )
  }
})
after(() => rmSync(folder, { recursive: true, force: true }))

/** What it prints of a project, and how it ended: a compiler that does not start prints no errors either. */
async function outcomeOf(compiler, project) {
  const {
    code = 0,
    stdout,
    stderr,
  } = await run(process.execPath, [join(ROOT, compiler), '-p', project], {
    cwd: ROOT,
  }).catch((error) => error)
  return { code, stdout, stderr }
}
const FINE = { code: 0, stdout: '', stderr: '' }

for (const [version, compiler] of Object.entries(COMPILERS)) {
  for (const resolution of ['nodenext', 'bundler'])
    test(`TypeScript ${version}, ${resolution}`, async () =>
      assert.deepEqual(await outcomeOf(compiler, join(folder, resolution)), FINE))

  test(`TypeScript ${version} checks index.d.ts itself`, async () =>
    assert.deepEqual(await outcomeOf(compiler, STRICTEST), FINE))
}

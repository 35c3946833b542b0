'use strict'
// npm run check: format, lint, types, package and prose, side by side. What each prints comes in this order,
// whichever ends first.

const { exec } = require('node:child_process')

const CHECKS = [
  'biome ci --colors=off .',
  'tsc -p tsconfig.json',
  'tsc -p tsconfig.page.json',
  'tsc -p test/types/strictest',
  'publint --strict',
  'node test/docs/prose.js',
  'attw --pack . --entrypoints . async-errors --format ascii --no-color --no-emoji',
]

/** @returns {Promise<{ command: string, failed: boolean, output: string }>} */
const run = (command) =>
  new Promise((resolve) => {
    exec(command, (error, stdout, stderr) =>
      resolve({ command, failed: error !== null, output: stdout + stderr })
    )
  })

async function main() {
  for (const check of CHECKS.map(run)) {
    const { command, failed, output } = await check
    console.log(`${failed ? 'Failed' : 'Passed'}: ${command}\n${output}`)
    if (failed) process.exitCode = 1
  }
}

main()

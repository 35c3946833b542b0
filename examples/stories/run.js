'use strict'
// npm run story [NAME]: runs a story before and after its mending, and prints what changed and what Spillway
// said by itself. A story is a folder beside this file, with a story.js in it. README.md says how one is
// added.

const fs = require('node:fs')
const path = require('node:path')
const { HELP, readArguments } = require('./frame/arguments')
const { savePage } = require('./frame/page')
const { printEnd, printHead, printRun } = require('./frame/print')
const { whenStopped } = require('./frame/stopped')
const { tell } = require('./frame/tell')

const storyFile = (name) => path.join(__dirname, name, 'story.js')
const names = () =>
  fs
    .readdirSync(__dirname)
    .filter((name) => fs.existsSync(storyFile(name)))
    .sort()

const storyOf = (name) => require(storyFile(name))

function list(isJson) {
  if (isJson) {
    const listed = names().map((name) => ({ name, summary: storyOf(name).summary }))
    return console.log(JSON.stringify(listed, null, 2))
  }
  const widest = Math.max(...names().map(({ length }) => length))
  const lines = names().map((name) => `  ${name.padEnd(widest)}  ${storyOf(name).summary}`)
  console.log(
    ['npm run story NAME', '', ...lines, '', 'npm run story -- --help shows the options.'].join('\n')
  )
}

const stopped = whenStopped()

async function main() {
  const { problem, help, name, ...options } = readArguments(
    process.argv.slice(2),
    names(),
    storyOf,
    process.env
  )
  if (problem !== undefined) {
    console.error(problem)
    process.exitCode = 2
    return
  }
  if (help) return console.log(HELP)
  if (name === undefined) return list(options.json)
  const story = { ...storyOf(name), name, folder: path.join(__dirname, name) }
  const missing = story.missing?.(options.own)
  if (missing !== undefined)
    return options.json ? console.log(JSON.stringify({ missing })) : console.log(missing)
  const output = options.json ? undefined : { onRun: printRun }
  if (output) printHead(story)
  const told = await tell(story, { ...options, stopped }, output)
  if (options.json) console.log(JSON.stringify(told, null, 2))
  else printEnd(story, told)
  if (options.save) savePage(story, told)
}

// If the reader of the pipe ends, as in `npm run story hooks | head`, end too.
process.stdout.on('error', () => process.exit())
main().catch((error) => {
  // Later failures, such as those of clients that got the signal too, are not reported.
  if (stopped.aborted) process.exit(stopped.reason)
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})

'use strict'
// --help for a benchmark that has no options of its own: the lines that its file opens with. Any other dash ends it too, instead
// of ten minutes' measuring of something else than was meant.

const fs = require('node:fs')

/** Call it before anything else is done. */
function answerHelp() {
  const flag = process.argv.slice(2).find((argument) => argument.startsWith('-'))
  if (flag === undefined) return
  const lines = fs.readFileSync(require.main.filename, 'utf8').split('\n').slice(1)
  const end = lines.findIndex((line) => !line.startsWith('//'))
  const opening = lines.slice(0, end)
  const help = `${opening.map((line) => line.replace(/^\/\/ ?/, '')).join('\n')}\n`
  const isWanted = flag === '--help' || flag === '-h'
  if (isWanted) process.stdout.write(help)
  else process.stderr.write(`there is no option ${flag}\n\n${help}`)
  process.exit(isWanted ? 0 : 2)
}

module.exports = { answerHelp }

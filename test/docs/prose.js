'use strict'
// npm run prose [-- file ...]: sentences of comments and pages that must be read twice, as far as a program can
// tell: those over 25 words, cells of tables over 20 words, comment lines over 110 columns, and phrases that
// CONTRIBUTING.md replaces.

const { readFileSync } = require('node:fs')
const { execFileSync } = require('node:child_process')
const path = require('node:path')
const { messagesOf } = require('./messages')

const ROOT = path.resolve(__dirname, '../..')
const MAX_WORDS = 25
const MAX_WORDS_OF_CELL = 20
const MAX_COLUMNS = 110

// Each is said better otherwise: CONTRIBUTING.md, "How we write".
const PHRASES = [
  /\b(?:is|are|was|were) no (?!longer|more than|less than|fewer than|other|such)[a-z]+/i,
  /\b(?:in the mean|the less of|the more of|as is tolerated|told by|decided about|in its stead|is of no use)\b/i,
  /\b(?:of|by|to|behind|in|from|after) which\b/i,
  /, that is,|which is to say/i,
  /\bso that\b.*\bso that\b/i,
]

/** @returns {string[]} files of the repository that people read */
function filesToRead() {
  const list = execFileSync('git', ['ls-files', 'src', 'docs', '*.md', 'index.d.ts', 'async-errors.d.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  return [...new Set(list.split('\n'))]
    .filter((name) => /\.(?:js|ts|md)$/.test(name))
    .filter((name) => !/\/vendor\/|docs\/decisions\/|^bench\/|^test\/|^examples\//.test(name))
}

// A line with a gap of three spaces or a box character is a formula, a table or a drawing.
const DRAWING = /\S {3,}\S|[─│┌┐└┘├┤]/

// A paragraph, an item of a list or a cell of a table, with the line that it begins on.
// isFields: of a tag that describes several fields, with a semicolon between them.
/** @typedef {{ line: number, text: string, isFields?: boolean }} Block */

/** @returns {Block[]} */
function blocksOfMarkdown(source) {
  const blocks = []
  let isCode = false
  let block
  const end = () => {
    if (block) blocks.push(block)
    block = undefined
  }
  for (const [index, line] of source.split('\n').entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) {
      isCode = !isCode
      end()
    } else if (isCode || DRAWING.test(line) || /^\s*(?:$|#|<|> |\[[^\]]+\]:)/.test(line)) end()
    else if (/^\s*\|/.test(line)) {
      end()
      for (const text of line.split(/(?<!\\)\||;/)) blocks.push({ line: index + 1, text: text.trim() })
    } else {
      if (/^\s*(?:[-*]|\d+\.) /.test(line)) end()
      block ??= { line: index + 1, text: '' }
      block.text += ` ${line.trim().replace(/^(?:[-*]|\d+\.) /, '')}`
    }
  }
  end()
  return blocks
}

/** @returns {Block[]} cells of tables, each whole */
const cellsOf = (source) =>
  source
    .split('\n')
    .flatMap((line, index) =>
      /^\s*\|/.test(line) ? line.split(/(?<!\\)\|/).map((text) => ({ line: index + 1, text })) : []
    )

/** @returns {Block[]} */
function blocksOfComments(source) {
  const blocks = []
  let block
  let depth = 0
  let isItem = false
  let isTag = false
  const end = () => {
    if (block) blocks.push(block)
    block = undefined
    isItem = false
    isTag = false
  }
  for (const [index, line] of source.split('\n').entries()) {
    const comment = /^\s*(?:\/\/|\/\*\*?|\*)(?: |$)(.*?)(?:\*\/)?$/.exec(line)
    let text = comment?.[1] ?? ''
    const isFormula = /^ {4}/.test(text) || (/^ {2}/.test(text) && !isItem && depth === 0)
    if (!comment || !text.trim() || isFormula || DRAWING.test(text)) {
      depth = 0
      end()
      continue
    }
    if (/^\s*(?:@|- |\d\. )/.test(text)) {
      end()
      isItem = true
      isTag = text.includes('@')
    }
    text = text.replace(/^\s*(?:@\w+|- |\d\. )/, '')
    // Types in braces, over several lines too, are no prose.
    let outside = ''
    for (const character of text) {
      if (character === '{') depth++
      if (depth === 0) outside += character
      if (character === '}' && depth > 0) depth--
    }
    block ??= { line: index + 1, text: '', isFields: isTag }
    block.text += ` ${outside.trim()}`
  }
  end()
  return blocks
}

const plain = (text) =>
  text
    .replace(/`[^`]*`/g, 'x')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]*>/g, ' ')

// A line of types ends where its formatter wants it.
const TYPES = /^\s*\/?\*+ +@(?:import|type|typedef|param|returns) /

const END_OF_SENTENCE = /(?<=[.!?]["')*]*)\s+(?=["'(*]*[\p{Lu}x\d])/u
const END_OF_FIELD = /;|(?<=[.!?]["')*]*)\s+(?=["'(*]*[\p{Lu}x\d])/u

const wordsOf = (sentence) => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

/** @returns {{ file: string, line: number, why: string, text: string }[]} */
function review(file, source) {
  const isMarkdown = file.endsWith('.md')
  const found = []
  const blocks = isMarkdown ? blocksOfMarkdown(source) : blocksOfComments(source)
  if (file.endsWith('.js')) blocks.push(...messagesOf(source))
  for (const { line, text, isFields } of blocks) {
    for (const sentence of plain(text).split(isFields ? END_OF_FIELD : END_OF_SENTENCE)) {
      const words = wordsOf(sentence)
      if (words > MAX_WORDS) found.push({ file, line, why: `${words} words`, text: sentence.trim() })
      for (const phrase of PHRASES) {
        const match = phrase.exec(sentence.replace(/"[^"]*"/g, ''))
        if (match) found.push({ file, line, why: `"${match[0]}"`, text: sentence.trim() })
      }
    }
  }
  if (isMarkdown)
    for (const { line, text } of cellsOf(source)) {
      const words = wordsOf(plain(text))
      if (words > MAX_WORDS_OF_CELL)
        found.push({ file, line, why: `a cell of ${words} words`, text: text.trim() })
    }
  else
    for (const [index, line] of source.split('\n').entries())
      if (line.length > MAX_COLUMNS && /^\s*(?:\/\/|\/\*|\* )/.test(line) && !TYPES.test(line))
        found.push({ file, line: index + 1, why: `${line.length} columns`, text: line.trim() })
  return found
}

const reviewFiles = (names) =>
  names.flatMap((name) => review(name, readFileSync(path.resolve(ROOT, name), 'utf8')))

if (require.main === module && process.argv[2] === '--messages') {
  for (const name of filesToRead().filter((each) => each.endsWith('.js')))
    for (const { line, text } of messagesOf(readFileSync(path.join(ROOT, name), 'utf8')))
      console.log(`${name}:${line} ${text}`)
} else if (require.main === module) {
  const names = process.argv.slice(2)
  const found = reviewFiles(names.length ? names : filesToRead())
  for (const { file, line, why, text } of found) console.log(`${file}:${line} (${why}) ${text}`)
  process.exitCode = found.length ? 1 : 0
}

module.exports = { filesToRead, review, reviewFiles }

'use strict'
// README.md and every page of docs/, taken apart: headings, anchors, links and blocks of code.

const { readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { ROOT } = require('../package/pack')

const FENCE = /^( *)(`{3,})(\w*)\n([\s\S]*?)^\1\2$/gm
const HEADING = /^(#{1,6}) (.+)$/gm
const LINK = /\]\(([^()\s]+)\)/g

/** @typedef {{ language: string, code: string, heading: string, line: number }} Block */
/**
 * @typedef {{ path: string, text: string, prose: string, anchors: Set<string>, links: string[],
 *   blocks: Block[] }} Page
 */

const isPage = (name) => name.endsWith('.md')
const paths = () => [
  ...readdirSync(ROOT).filter(isPage),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true })
    .map((name) => `docs/${String(name).replaceAll('\\', '/')}`)
    .filter(isPage),
]

/**
 * GitHub's anchor of a heading: without marks of code and links, and of a second one of the same words with a
 * number.
 */
function slugOf(heading, seen) {
  const words = heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-')
  const count = seen.get(words) ?? 0
  seen.set(words, count + 1)
  return count === 0 ? words : `${words}-${count}`
}

/** @returns {Page} */
function read(path) {
  const text = readFileSync(join(ROOT, path), 'utf8').replaceAll('\r\n', '\n')
  const lineOf = (index) => text.slice(0, index).split('\n').length
  // Blocks of code become blank, so that no comment in them reads as a heading.
  const prose = text.replace(FENCE, (block) => block.replace(/[^\n]/g, ' '))
  const headings = [...prose.matchAll(HEADING)].map(({ index, 2: words }) => ({ index, words }))
  const headingAt = (index) => headings.findLast((heading) => heading.index < index)?.words ?? ''
  const blocks = [...text.matchAll(FENCE)].map(({ index, 1: indent, 3: language, 4: code }) => ({
    language,
    code: code.replaceAll(`\n${indent}`, '\n').slice(indent.length),
    heading: headingAt(index),
    line: lineOf(index),
  }))
  const seen = new Map()
  const anchors = new Set(headings.map(({ words }) => slugOf(words, seen)))
  for (const [, id] of prose.matchAll(/<a id="([^"]+)">/g)) anchors.add(id)
  const links = [...prose.matchAll(LINK)].map(([, target]) => target)
  return { path, text, prose, anchors, links, blocks }
}

module.exports = { pages: paths().map(read), slugOf }

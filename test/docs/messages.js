'use strict'
// npm run messages: the texts of src that people read, one a line: log lines, errors, warnings, findings, advice,
// help, the live page. Read them as one text before a release. `npm run check` reviews them as it reviews
// comments (prose.js).

const { parse } = require('acorn')

/** The text of an expression, with `...` for what is put in; undefined if it is no text. */
function textOf(node) {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined
  if (node.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked).join('...')
  if (node.type === 'BinaryExpression' && node.operator === '+') {
    const parts = [textOf(node.left), textOf(node.right)]
    return parts.some((part) => part !== undefined) ? parts.map((part) => part ?? '...').join('') : undefined
  }
  return undefined
}

// Four words, one of them in lower case, and no code: a sentence, or most of one.
const isRead = (text) =>
  /[a-z]{2,}/.test(text) && text.trim().split(/\s+/).length >= 4 && !/^[\w-]+:|[{};=<>]|\\n {2}/.test(text)

/** @returns {{ line: number, text: string }[]} */
function messagesOf(source) {
  const found = []
  const visit = (node) => {
    const text = textOf(node)
    const message = text?.replace(/\s+/g, ' ').trim()
    if (message !== undefined && isRead(message)) found.push({ line: node.loc.start.line, text: message })
    if (text !== undefined && node.type !== 'TemplateLiteral') return
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? value : [value])
        if (typeof child?.type === 'string') visit(child)
  }
  const isModule = /^(?:import|export) /m.test(source)
  visit(
    parse(source, {
      ecmaVersion: 'latest',
      sourceType: isModule ? 'module' : 'script',
      locations: true,
      allowHashBang: true,
    })
  )
  return found
}

module.exports = { messagesOf }

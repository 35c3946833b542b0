'use strict'
// A reporter of node:test: each test as a line of JSON, with its whole name, how it ended and what it noted.
// Notes come after the end of their test, at its depth.

const NOTE = /^note (.*)$/s

module.exports = async function* reporter(source) {
  const names = []
  const last = []
  for await (const { type, data } of source) {
    const { name, nesting, message, details } = data
    if (type === 'test:start') names[nesting] = name
    if (type === 'test:pass' || type === 'test:fail') {
      names[nesting] = name
      const status = data.skip !== undefined || data.todo !== undefined ? 'skip' : type.slice('test:'.length)
      last[nesting] = { name: names.slice(0, nesting + 1).join(' > '), status, notes: [] }
      if (details?.type !== 'suite') yield line({ ...last[nesting], error: details?.error?.message })
    }
    const note = type === 'test:diagnostic' ? message.match(NOTE)?.[1] : undefined
    if (note !== undefined) yield line({ name: last[nesting].name, note })
  }
}

const line = (value) => `${JSON.stringify(value)}\n`

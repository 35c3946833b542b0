'use strict'
// `spillway config`: the options in force, one per line.

const { EXIT } = require('../command-error')
const { jsonLines } = require('../printable-text')
const { tableLines } = require('../text-table')

/**
 * @import { Output } from '../output'
 * @import { Column } from '../text-table'
 */

/** @type {import('../commands').Command} */
const config = {
  name: 'config',
  about: 'the options in force, those changed by `update()` included',
  options: {},
  examples: [
    ['spillway config', 'all options of the service at port 9464'],
    ['spillway config 9465 | grep shed', 'a group of them'],
    ['spillway config --json | jq .shed.mode', 'one of them, for a script'],
  ],
  async run({ client, values, out }) {
    const options = await client.getJson('/config')
    if (values.json) out.print(jsonLines(options, out))
    else out.print(configLines(options, out))
    return EXIT.done
  },
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isGroup = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** @param {Record<string, unknown>} options @param {Pick<Output, 'paint'>} out */
function configLines(options, { paint }) {
  const rows = Object.entries(options).flatMap(([name, value]) =>
    isGroup(value)
      ? Object.entries(value).map(([key, each]) => ({ name: `${name}.${key}`, value: each }))
      : [{ name, value }]
  )
  /** @type {Column<{ name: string, value: unknown }>[]} */
  const columns = [
    { head: 'option', isText: true, of: ({ name }) => name },
    {
      head: 'value (times in milliseconds, sizes in bytes)',
      isText: true,
      // An option that is not set is null in JSON.
      of: ({ value }) => (value === null ? '-' : typeof value === 'string' ? value : JSON.stringify(value)),
    },
  ]
  return tableLines(columns, rows, { paint })
}

module.exports = { config }

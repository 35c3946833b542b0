'use strict'
// The options in force, from `/config`: they are read when the page opens, and after each reconnect.

const { make } = require('./dom')
const { factTable } = require('./facts')
const { getJson } = require('./live')

/** @import { Section } from './main' */

/** @param {unknown} value */
const isGroup = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
/** @param {unknown} value */
const written = (value) => (typeof value === 'string' ? value : JSON.stringify(value))

/** @returns {Section} */
function optionsSection() {
  const content = make('div', { class: 'details' })
  return {
    id: 'options',
    title: 'Options in force',
    isWide: true,
    isFolded: true,
    content: [content],
    update() {},
    async reload() {
      const options = await getJson('config')
      const groups = Object.entries(options).filter(([, value]) => isGroup(value))
      const plain = Object.entries(options).filter(([, value]) => !isGroup(value))
      content.replaceChildren(
        ...groups.map(([name, group]) =>
          factTable(name, rowsOf(Object.entries(/** @type {object} */ (group))))
        ),
        factTable('others', rowsOf(plain))
      )
    },
  }
}

/** @param {[name: string, value: unknown][]} entries @returns {[string, string][]} */
const rowsOf = (entries) =>
  entries.map(([name, value]) => [name, value === null ? 'not set' : written(value)])

module.exports = { optionsSection }

'use strict'
// `spillway snapshot`: everything known at this moment as text for people, in aligned sections, rounded, with
// units.

const { EXIT } = require('../command-error')
const { jsonLines } = require('../printable-text')
const { snapshotLines } = require('../snapshot-sections')

/** @type {import('../commands').Command} */
const snapshot = {
  name: 'snapshot',
  about: 'everything known at this moment: requests, routes, gate, event loop, memory, errors',
  options: {},
  examples: [
    ['spillway snapshot', 'of the service at port 9464'],
    ['spillway snapshot 9465 | less', 'page through it'],
    ['spillway snapshot --json > before.json', 'keep a snapshot for a later comparison'],
  ],
  async run({ client, values, out }) {
    const taken = await client.getJson('/snapshot')
    out.print(values.json ? jsonLines(taken, out) : snapshotLines(taken, { out, url: client.url }))
    return EXIT.done
  },
}

module.exports = { snapshot }

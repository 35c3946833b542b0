'use strict'
// The table of the benches, for bench/README.md.

const { BENCHES } = require('../benches')
const { table } = require('./markdown')

const benchesTable = () =>
  table(
    ['`npm run bench --`', 'proves', 'takes about', 'needs a quiet machine', 'shown in'],
    BENCHES.map(({ name, proves, takes, needsQuiet, shown }) => [
      `[\`${name}\`](${name}/index.js)`,
      proves,
      takes,
      needsQuiet ? 'yes' : 'no',
      shown,
    ])
  )

module.exports = { benchesTable }

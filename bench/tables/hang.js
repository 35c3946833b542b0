'use strict'
// The table of `npm run bench -- hang`.

const { byNode, stamp, table } = require('./markdown')

const hangTable = () =>
  byNode(['hang'], ([results], major) => {
    const head = [
      `Node ${major}`,
      'CPU of an idle process',
      'resident, MB',
      'CPU of a request, µs',
      `CPU of a stall of ${results.stallMs / 1000} s, ms`,
    ]
    const rows = results.rows.map((row) => [
      row.variant,
      `${row.idlePercent.toFixed(2)} %`,
      row.rssMb.toFixed(0),
      row.requestMicroseconds.toFixed(0),
      row.stallMs.toFixed(1),
    ])
    const each = results.rounds === 1 ? 'One process' : `Medians of ${results.rounds} processes`
    const how = `${each} each. Each stall writes a line to the log. With \`hangReport\`, in the last row, it also writes a report. `
    return [table(head, rows), '', how + stamp(results, 'hang')].join('\n')
  })

module.exports = { hangTable }

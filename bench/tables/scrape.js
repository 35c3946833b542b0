'use strict'
// The tables of the benches scrape, scrape-flood and fleet.

const { byNode, percent, stamp, table } = require('./markdown')

const blocksOf = ({ blockMs, blockP90Ms, blockMaxMs }) =>
  `${blockMs.toFixed(1)} (${blockP90Ms.toFixed(1)}, ${blockMaxMs.toFixed(1)})`

const scrapeTable = () =>
  byNode(['scrape'], ([results], major) => {
    const head = [
      `Node ${major}, series`,
      '',
      'longest loop block, ms (p90, max)',
      'CPU, ms (of prom-client)',
      'MB',
    ]
    const rows = results.rows.map((row) => [
      row.series,
      row.variant,
      blocksOf(row),
      row.cpuMs === undefined ? '' : `${row.cpuMs.toFixed(0)} (${percent(row.cpuOfPromClient, 0)})`,
      row.kilobytes === undefined ? '' : (row.kilobytes / 1000).toFixed(1),
    ])
    return [table(head, rows), '', stamp(results, 'scrape')].join('\n')
  })

const fleetTable = () =>
  byNode(['fleet'], ([results], major) => {
    const head = [
      `Node ${major}, ${results.workers} workers, ${results.series} series each`,
      'longest loop block, ms (p90, max)',
      'CPU of all, ms',
      'took, ms',
    ]
    const rows = results.rows.map((row) => [
      row.variant,
      blocksOf(row),
      row.cpuMs === undefined ? '' : row.cpuMs.toFixed(0),
      row.tookMs === undefined ? '' : row.tookMs.toFixed(0),
    ])
    const silent = `If one worker is stopped, a scrape takes at most ${results.besideSilentMs} ms. `
    return [table(head, rows), '', silent + stamp(results, 'fleet')].join('\n')
  })

const scrapeFloodTable = () =>
  byNode(['scrape-flood'], ([results], major) => {
    const head = [
      `Node ${major}, scrapes/s`,
      'renderings',
      'rejected',
      'p99, ms',
      'CPU',
      'scrapes answered/s',
    ]
    const rows = results.runs.flatMap(({ label, rows: ofRun }) =>
      ofRun.map(({ scrapesPerSecond, bystander, cpuShare, scraper }) => [
        scrapesPerSecond,
        label === 'before' ? 'one for each scrape' : 'shared',
        percent(bystander.shedShare),
        Math.round(bystander.p99Ms),
        percent(cpuShare, 0),
        scraper.wholePerSecond,
      ])
    )
    const sorted = rows.sort((a, b) => a[0] - b[0])
    return [table(head, sorted), '', stamp(results, 'scrape-flood')].join('\n')
  })

module.exports = { fleetTable, scrapeFloodTable, scrapeTable }

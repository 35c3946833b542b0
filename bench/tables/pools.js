'use strict'
// The table of `npm run bench -- pools`: what a service serves in time of what its pool can serve, with
// `pool()` and without.

const { byNode, stamp, table } = require('./markdown')

const percent = (share) => `${(share * 100).toFixed(share > 0 && share < 0.095 ? 1 : 0)} %`
const time = (ms) =>
  ms === undefined || ms === null
    ? 'none'
    : ms < 1000
      ? `${Math.round(ms)} ms`
      : `${(ms / 1000).toFixed(1)} s`

function sectionOf([{ rows, allowedMs, ...results }], major) {
  const sizes = [...new Set(rows.map(({ size }) => size))]
  return [
    ...sizes.flatMap((size) => {
      const ofSize = rows.filter((row) => row.size === size)
      return [
        table(
          [
            `Node ${major}: a pool of ${size}, queries of ${ofSize[0].queryMs} ms`,
            'in time, with',
            'without',
            'p99, with',
            'without',
            'rejected',
            'rejected on the other route: with, without',
          ],
          [...new Set(ofSize.map(({ multiple }) => multiple))].map((multiple) => {
            const of = (isObserved) =>
              ofSize.find((row) => row.multiple === multiple && row.isObserved === isObserved)
            const [given, without] = [of(true), of(false)]
            return [
              `${multiple} times its capacity`,
              given.ofCapacity.toFixed(2),
              without.ofCapacity.toFixed(2),
              time(given.p99Ms),
              time(without.p99Ms),
              percent(given.shed),
              `${percent(given.beside)}, ${percent(without.beside)}`,
            ]
          })
        ),
        '',
      ]
    }),
    `In time: answered within ${allowedMs} ms plus the time of the query. "none": no request was answered. ${stamp(results, 'pools')}`,
  ].join('\n')
}

const poolsTable = () => byNode(['pools'], sectionOf)

module.exports = { poolsTable }

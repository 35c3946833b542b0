'use strict'
// The figures of a start: the loaded files by package, and the medians over the runs.

const { median, round1, scatter } = require('../support/statistics')

/** Figures are disturbed where the main thread waited for a core for more than this share of a start. */
const MAX_WAITED = 0.15
const PACKAGE = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/

/** Files outside node_modules are this package's. */
const packageOf = (file) => PACKAGE.exec(file)?.[1] ?? 'spillway'

/**
 * @param {string[]} files paths of loaded files
 * @param {string} [name] the package whose files are its own
 */
function countFiles(files, name) {
  const ownFiles = files.filter((file) => packageOf(file) === name).length
  return { ownFiles, dependencyFiles: files.length - ownFiles }
}

/**
 * The medians of each variant. `added` is the median difference to the other variant's run of the same round.
 * @param {Record<string, Record<string, number>[]>} runs of each variant, in the order of the rounds
 * @param {Record<string, { over?: string }>} variants
 */
const rowsOf = (runs, variants) =>
  Object.entries(runs).map(([variant, own]) => {
    const { over } = variants[variant]
    return {
      variant,
      ...mediansOf(own),
      // Half of the runs were within this of the median.
      plusMinusMs: round1(scatter(own.map(({ readyMs }) => readyMs))),
      isDisturbed: median(own.map(({ readyMs, waitedMs }) => waitedMs / (readyMs + waitedMs))) > MAX_WAITED,
      ...(over === undefined ? {} : { over, added: mediansOf(differencesOf(own, runs[over])) }),
    }
  })

const differencesOf = (runs, others) =>
  runs.map(({ readyMs, heapMb, rssMb }, round) => ({
    readyMs: readyMs - others[round].readyMs,
    heapMb: heapMb - others[round].heapMb,
    rssMb: rssMb - others[round].rssMb,
  }))

const mediansOf = (runs) =>
  Object.fromEntries(Object.keys(runs[0]).map((key) => [key, round1(median(runs.map((run) => run[key])))]))

module.exports = { countFiles, rowsOf }

'use strict'
// `spillway report`: one HTML file about a run. The figures are those that the process remembers. Or they are
// recorded until Ctrl-C, for a given time, or while a command runs.

const { loadStyle } = require('../../features/admin/report/document')
const { makeRun } = require('../../features/admin/report/run')
const { maskCommand } = require('../../core/redaction/text')
const { CommandError, EXIT } = require('../command-error')
const { bytes, duration, percent, span } = require('../../core/readable')
const { count, rate } = require('../figures')
const { jsonLines, printable, wrap } = require('../printable-text')
const { text } = require('../options')
const { runChild } = require('../report/child')
const { Recording } = require('../report/recording')
const { readRemembered } = require('../report/remembered')
const { ReportFile, makeReport, readReport } = require('../report/report-file')
const { readRecordedSpan, readTime } = require('../report/span')

const CLEAR_LINE = '\r\x1b[K'

/**
 * @import { Context } from '../command-line'
 * @import { Values } from '../options'
 * @typedef {import('../../features/admin/report/run').Recorded} Recorded
 */

/** @type {import('../commands').Command} */
const report = {
  name: 'report',
  about: 'one HTML file of a load test: curves, routes, findings, stalls, slowest requests',
  more: [
    'It covers the last ten minutes, which the process remembers. With --watch, --for or a command after --, the run may have any length,',
    'and every table covers the run alone. The exit code of the command is passed on. The file loads nothing and needs no server.',
  ],
  takesCommand: true,
  json: 'the figures of the report as JSON; the file is saved only with --out',
  options: {
    from: { takes: 'TIME', read: readTime, about: 'where the run begins: -5m, 14:02, 14:02:30 or ISO 8601' },
    to: { takes: 'TIME', read: readTime, about: 'where it ends, now by default' },
    watch: { about: 'record from now until Ctrl-C' },
    for: {
      takes: 'TIME',
      read: readRecordedSpan,
      about: 'record from now on for this long: 90s, 30m, 2h; 168h at most',
    },
    out: {
      takes: 'FILE',
      read: text,
      about: 'where to save it, by default spillway-report-<day>-<time>.html',
    },
    force: { about: 'replace a file that exists' },
    title: { takes: 'TEXT', read: text, about: 'the title of the report' },
    baseline: {
      takes: 'FILE',
      read: text,
      about: 'an earlier report to compare with; tables show before, now and change',
    },
  },
  examples: [
    ['spillway report 9464 --from -5m', 'the last five minutes'],
    ['spillway report 9464 --from 14:02 --to 14:07', 'a run that is over'],
    [
      'spillway report 9464 -- npx autocannon -d 30 http://127.0.0.1:3000',
      'run a load test, and report the time it took',
    ],
    ['spillway report 9464 --for 30m --out before.html', 'record half an hour'],
    ['spillway report 9464 --for 30m --baseline before.html', 'and compare'],
  ],
  async run(context) {
    const { values, commandLine, clock, out } = context
    checkTogether(values, commandLine)
    const isPrinted = values.json && values.out === undefined
    const file = new ReportFile(values.out, { mayReplace: values.force === true, nowMs: clock.wallMs() })
    if (!isPrinted) await file.check()
    const baseline = values.baseline === undefined ? undefined : await readReport(values.baseline)
    // Loaded before the run, like everything that may fail.
    const css = await loadStyle()
    const { recorded, code } = await record(context)
    const measured = makeRun({
      ...recorded,
      address: context.client.url,
      ...(values.title !== undefined && { title: values.title }),
      ...(commandLine.length > 0 && { command: maskCommand(commandLine) }),
    })
    if (values.json) out.print(jsonLines(measured, out))
    if (isPrinted) return code
    const { html, run } = makeReport(measured, css, baseline)
    const path = await file.write(html)
    const lines = [...summaryLines(run), `Saved ${printable(path)} (${bytes(Buffer.byteLength(html))}).`]
    context.err.print(lines.flatMap((line) => wrap(line, context.err.lineWidth)))
    return code
  },
}

/** @param {Values} values @param {readonly string[]} commandLine */
function checkTogether({ from, to, watch, for: span }, commandLine) {
  const recorded = [
    watch && '--watch',
    span !== undefined && '--for',
    commandLine.length > 0 && 'a command after --',
  ].filter(Boolean)
  if (recorded.length > 0 && (from !== undefined || to !== undefined))
    throw new CommandError(`--from and --to are for a run that is over: leave them out with ${recorded[0]}.`)
  if (commandLine.length > 0 && recorded.length > 1)
    throw new CommandError(`A command after -- says how long the run is: leave out ${recorded[0]}.`)
}

/** @param {Context} context @returns {Promise<{ recorded: Recorded, code: number }>} */
async function record(context) {
  const { client, values, commandLine, err } = context
  if (!values.watch && values.for === undefined && commandLine.length === 0)
    return { recorded: await readRemembered(client, values), code: EXIT.done }
  const recording = new Recording(context)
  await recording.begin()
  /** @type {number} */
  let code = EXIT.done
  try {
    if (commandLine.length > 0) code = await runChild(commandLine, context)
    else await untilEnd(recording, context)
  } catch (error) {
    await recording.end()
    throw error
  }
  if (err.isScreen && commandLine.length === 0) err.write(CLEAR_LINE)
  return { recorded: await recording.end(), code }
}

/**
 * Waits until Ctrl-C or the end of `--for`. A second Ctrl-C ends the program at once.
 *
 * @param {Recording} recording
 * @param {Context} context
 */
function untilEnd(recording, { signals, clock, values, err }) {
  const how =
    values.for === undefined
      ? 'Ctrl-C ends the recording and writes the report.'
      : `For ${span(values.for / 1000)}; Ctrl-C ends the recording earlier.`
  return new Promise((resolve) => {
    const timer = values.for === undefined ? undefined : clock.wait(values.for, () => end())
    const end = () => {
      signals.off('SIGINT', end)
      signals.off('SIGTERM', end)
      clock.cancel(timer)
      resolve(undefined)
    }
    signals.on('SIGINT', end)
    signals.on('SIGTERM', end)
    if (!err.isScreen) return err.print([`Recording. ${how}`])
    recording.onPoint = ({ requests, p99 }, lastedMs) => {
      const now = `${span(lastedMs / 1000)}: ${rate(requests)}/s, p99 ${duration(p99)}`
      err.write(`${CLEAR_LINE}Recording, ${now}. ${how}`)
    }
  })
}

/** @param {import('../../features/admin/report/run').Run} run */
function summaryLines({ requests, findings, seconds, notices, process, releases }) {
  const { latencies } = requests
  const errors = requests.count === 0 ? 0 : requests.errors / requests.count
  const { version } = releases.current
  const release = version === '' ? '' : ` ${version}`
  return [
    printable(`${process.service}${release}, process ${process.pid} on ${process.host}.`),
    ...notices.map(printable),
    `${count(requests.count)} ${requests.count === 1 ? 'request' : 'requests'} in ${span(seconds)}, ${rate(requests.perSecond)}/s, p50 ${duration(latencies?.p50Ms)}, p99 ${duration(latencies?.p99Ms)}, ${percent(errors)} errors, ${count(requests.shed)} shed.`,
    ...findings.map(({ severity, effectOf, summary }) => {
      const effect = effectOf === null ? '' : `, an effect of ${effectOf}:`
      return printable(`${severity.toUpperCase()}${effect} ${summary}`)
    }),
  ]
}

module.exports = { report }

'use strict'
// A report as one HTML file: it loads nothing, runs nothing, and lets nothing else run. The file contains the
// run as JSON, so that a later report can be compared with this run.

const { createHash } = require('node:crypto')
const { readFile } = require('node:fs/promises')
const { ownFile } = require('../../../core/own-files')
const { VERSION } = require('../../../core/version')
const { makeOptions, makeReleases, makeSteps } = require('./appendix')
const { makeCurves, releasedAt } = require('./curve')
const { makeErrors, makeMemory, makeOutgoing, makeRejections, makeStalls } = require('./event-tables')
const { Markup, html, json } = require('./markup')
const { makeFindings, makeHead, makeNotices, makeSummary, titleOf } = require('./overview')
const { makeComparison, makeParts, makeRoutes, makeSlowest } = require('./request-tables')
const { FORMAT } = require('./run')
const { makePools, makeSockets } = require('./service-tables')
const { makeSection } = require('./table')
const { Times } = require('./times')

const STYLES = ['features/admin/page/colors.css', 'features/admin/report/report.css']
const DATA_ID = 'spillway-run'
const DATA = new RegExp(`<script type="application/json" id="${DATA_ID}">([^<]*)</script>`)

/** @import { Run } from './run' */

/** @type {Promise<string> | undefined} */
let style

/** @returns {Promise<string>} */
function loadStyle() {
  style ??= Promise.all(STYLES.map(async (name) => readFile(ownFile(name), 'utf8')))
    .then((texts) => texts.join('\n'))
    .catch((error) => {
      style = undefined
      throw error
    })
  return style
}

/**
 * @param {Run} run
 * @param {string} css
 * @param {Run} [baseline] the run to compare with
 * @returns {{ html: string, policy: string }} policy: the Content-Security-Policy, for a server that sends
 *   the document
 */
function makeDocument(run, css, baseline) {
  const times = new Times(run.zone, run.to)
  const policy = policyFor(css)
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="spillway ${VERSION}">
<title>${titleOf(run)}, ${times.moment(run.from)}</title>
<style>${new Markup(css)}</style>
</head>
<body>
${makeHead(run, times)}<main>
${makeNotices(run)}<div class="overview${baseline !== undefined && ' compared'}">${makeSummary(run, times, baseline)}${makeFindings(run, times)}</div>
${makeComparison(run, baseline)}
${makeCurveSection(run, times)}${makeRoutes(run, times)}${makeParts(run, times)}${makeSlowest(run, times)}
${makeStalls(run, times)}${makeErrors(run, times)}${makePools(run, times)}${makeSockets(run, times)}${makeOutgoing(run, times)}${makeRejections(run, times)}
${makeMemory(run, times)}${makeReleases(run, times)}${makeSteps(run, times)}${makeOptions(run)}
</main>
<script type="application/json" id="${DATA_ID}">${json(run)}</script>
</body>
</html>
`
  return { html: page.text, policy }
}

/** @param {Run} run @param {Times} times */
function makeCurveSection(run, times) {
  const { curves } = run
  if (curves.rows.length === 0)
    return makeSection('curves', 'Curves', null, html`<p>The process has no figures from this time.</p>`)
  const about =
    curves.stepSeconds === 1
      ? 'Each point is one second. The table below each curve is computed from all seconds. A red band is a stall of the event loop.'
      : `A point stands for ${curves.stepSeconds} seconds: rates and p50 are means; p99, loop delay and memory are those of the worst second. The table below each curve is computed from all seconds. A red band is a stall of the event loop.`
  const at = releasedAt(run)
  const release =
    at === undefined ? '' : ` The vertical line shows when this release began, at ${times.time(at)}.`
  return makeSection('curves', 'Curves', about + release, makeCurves(run, times))
}

/** @param {string} css */
const policyFor = (css) =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(css).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')

/**
 * Reads the run of an earlier report. The run is compared with itself, because a file that was cut or edited
 * may lack what a comparison reads. This must be known before a new run, not after it.
 *
 * @param {string} text of a file
 * @returns {Run | undefined} undefined if this version cannot compare with it
 */
function readRun(text) {
  const found = DATA.exec(text)
  if (found === null) return undefined
  try {
    const run = JSON.parse(found[1])
    if (run.format !== FORMAT) return undefined
    makeSummary(run, new Times(undefined, run.to), run)
    makeComparison(run, run)
    return run
  } catch {
    return undefined
  }
}

module.exports = { loadStyle, makeDocument, readRun }

'use strict'
// Whether the process is healthy: the sentence of the doctor, and each finding as a sentence that opens its evidence.

const { byId, make, setChildren, setText, withCode } = require('./dom')
const { factTable } = require('./facts')
const { count, duration, figure, number, percent, span } = require('../../../core/readable')

/**
 * @import { Diagnosis, Finding, Snapshot } from '../../../../index.js'
 * @import { State } from './chart-list'
 * @typedef {Partial<Record<Finding['problem'], [to: string, title: string]>>} Links
 */

const ICONS = { high: '▲', medium: '●', low: '○' }
const WORDS = { high: 'high', medium: 'medium', low: 'low' }
/** The part of the page that shows more. @type {Links} */
const PLACES = {
  'event-loop-blocked': ['stalls', 'Stalls'],
  'cpu-saturated': ['routes', 'Routes'],
  'garbage-collection': ['memory', 'Memory'],
  'heap-growing': ['memory', 'Memory'],
  'slow-dependency': ['outgoing', 'Outgoing calls'],
  'many-calls': ['outgoing', 'Outgoing calls'],
  'pool-exhausted': ['slow', 'Slow requests'],
  'thread-pool': ['slow', 'Slow requests'],
  overloaded: ['admission', 'Admission'],
  'aborted-requests': ['routes', 'Routes'],
  'orphaned-requests': ['oldest', 'In flight the longest'],
  errors: ['errors', 'Errors'],
  'listener-leak': ['errors', 'Errors'],
  'slow-clients': ['oldest', 'In flight the longest'],
}

/** The profile that names the cause. @type {Links} */
const PROFILES = {
  'event-loop-blocked': ['profile', 'Take a CPU profile'],
  'cpu-saturated': ['profile', 'Take a CPU profile'],
  'garbage-collection': ['heap', 'Take a heap profile'],
  'heap-growing': ['heap', 'Take a heap profile'],
}

class HealthPanel {
  #title = make('h2', { id: 'health-title' })
  #about = make('p', { class: 'faint' })
  #list = make('ol', { class: 'findings' })
  #now = make('div', { class: 'now' })
  /** By problem and route, so that an opened finding stays open. @type {Map<string, ReturnType<typeof makeFinding>>} */
  #items = new Map()

  #takeProfile

  /** @param {(path: string) => void} takeProfile */
  constructor(takeProfile) {
    this.#takeProfile = takeProfile
    byId('health').append(make('div', { role: 'status' }, this.#title), this.#about, this.#list, this.#now)
  }

  /** @param {State} state */
  update({ diagnosis, snapshot }) {
    this.#showFindings(diagnosis)
    const rows = rowsOf(snapshot)
    // Findings take this place, so that nothing moves when they come.
    this.#now.hidden = diagnosis.findings.length > 0
    setChildren(this.#now, rows.join(), () => [factTable('Last minute', rows)])
  }

  /** @param {Diagnosis} diagnosis */
  #showFindings({ healthy, summary, findings, requests, seconds }) {
    const panel = byId('health')
    panel.dataset.healthy = String(healthy)
    setText(this.#title, titleOf(healthy, findings))
    const traffic = `${requests} requests in the last ${span(seconds)}`
    setText(this.#about, findings.length === 0 ? withoutVerdict(summary) : traffic)
    document.title = findings.length === 0 ? 'spillway' : `(${findings.length}) spillway`
    const keys = findings.map(({ problem, route }) => `${problem} ${route}`)
    for (const [key, { item }] of this.#items) {
      if (keys.includes(key)) continue
      item.remove()
      this.#items.delete(key)
    }
    for (const [i, finding] of findings.entries()) this.#show(keys[i], finding, i)
  }

  /** @param {string} key @param {Finding} finding @param {number} i */
  #show(key, finding, i) {
    let parts = this.#items.get(key)
    if (parts === undefined) this.#items.set(key, (parts = makeFinding(finding, this.#takeProfile)))
    fillFinding(parts, finding)
    const there = this.#list.children[i]
    if (there !== parts.item) this.#list.insertBefore(parts.item, there ?? null)
  }
}

/** @param {Snapshot} snapshot @returns {[string, string][]} */
function rowsOf({ admission, requests, routes, runtime }) {
  const { lastMinute } = requests
  const { delayMs, utilization } = runtime.loop
  const limit = admission.limit === null ? '' : ` of ${count(admission.limit)}`
  return [
    ['requests a second', number(lastMinute.ratePerSecond)],
    ['p50, p99', `${duration(lastMinute.p50Ms)}, ${duration(lastMinute.p99Ms)}`],
    ['errors', percent(lastMinute.errorRatio)],
    ['in flight, queued', `${count(requests.inFlight)}${limit}, ${count(admission.queued)}`],
    ['event loop busy', percent(utilization)],
    ['loop delay, p99', duration(delayMs.p99)],
    ['CPU', percent(runtime.cpu.utilization)],
    ['routes', count(routes.length)],
  ]
}

/** @param {boolean | null} healthy @param {readonly Finding[]} findings */
function titleOf(healthy, findings) {
  if (healthy === null) return 'Not enough traffic to tell'
  if (healthy) return 'Healthy'
  return findings.length === 1 ? '1 problem' : `${findings.length} problems`
}

/** The verdict stands above it already. @param {string} summary */
function withoutVerdict(summary) {
  const rest = summary.replace(/^(Healthy|Not enough traffic to tell): /, '')
  return rest.charAt(0).toUpperCase() + rest.slice(1)
}

/** @param {Finding} finding @param {(path: string) => void} takeProfile */
function makeFinding({ problem }, takeProfile) {
  const badge = make('span', { class: 'badge' })
  const sentence = make('span')
  const advice = make('p')
  const body = make('tbody')
  const effect = make('p', { class: 'faint' })
  const place = PLACES[problem]
  const link =
    place === undefined ? null : make('p', null, 'See ', make('a', { href: `#${place[0]}` }, place[1]))
  const [path, title] = PROFILES[problem] ?? []
  const button =
    path === undefined
      ? null
      : make('button', { type: 'button', class: 'plain', onclick: () => takeProfile(path) }, title)
  const table = make('table', { class: 'evidence' }, make('caption', { class: 'unseen' }, 'Evidence'), body)
  const item = make(
    'li',
    { 'data-problem': problem },
    make('details', null, make('summary', null, badge, ' ', sentence), table, advice, effect, link, button)
  )
  return { item, badge, sentence, advice, body, effect }
}

/** @param {ReturnType<typeof makeFinding>} parts @param {Finding} finding */
function fillFinding({ item, badge, sentence, advice, body, effect }, finding) {
  item.className = finding.severity
  const isEffect = finding.effectOf !== null
  setText(badge, `${ICONS[finding.severity]} ${WORDS[finding.severity]}${isEffect ? ', effect' : ''}`)
  setText(sentence, finding.summary)
  setChildren(advice, finding.advice, () => withCode(finding.advice))
  setText(effect, isEffect ? `An effect of ${finding.effectOf}.` : '')
  body.replaceChildren(
    ...finding.evidence.map((each) =>
      make('tr', null, make('th', { scope: 'row' }, each.name), make('td', null, figure(each)))
    )
  )
}

exports.HealthPanel = HealthPanel

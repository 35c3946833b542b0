'use strict'
// Whether the process is healthy. It shows the verdict of the doctor, the totals of the last minute, and each
// finding with what to do. The evidence of a finding is collapsed.

const { byId, make, setChildren, setText, withCode } = require('./dom')
const { counted, figure, span } = require('../../../core/readable')
const { Totals } = require('./totals')

/**
 * @import { Diagnosis, Finding } from '../../../../index.js'
 * @import { State } from './chart-list'
 * @import { Past } from './past'
 * @typedef {Partial<Record<Finding['problem'], [to: string, title: string]>>} Links
 */

const ICONS = { high: '▲', medium: '●', low: '○' }
/** The part of the page that shows more. @type {Links} */
const PLACES = {
  'event-loop-blocked': ['stalls', 'Stalls'],
  'cpu-saturated': ['routes', 'Routes'],
  'garbage-collection': ['memory', 'Memory'],
  'heap-growing': ['memory', 'Memory'],
  'slow-dependency': ['outgoing', 'Outgoing calls'],
  'many-calls': ['outgoing', 'Outgoing calls'],
  'pool-exhausted': ['pools', 'Pools'],
  'thread-pool': ['slow', 'Slow requests'],
  overloaded: ['admission', 'Admission'],
  'aborted-requests': ['routes', 'Routes'],
  'orphaned-requests': ['oldest', 'In flight the longest'],
  errors: ['errors', 'Errors'],
  'listener-leak': ['errors', 'Errors'],
  'slow-clients': ['oldest', 'In flight the longest'],
  'work-after-disconnect': ['routes', 'Routes'],
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
  #totals
  /**
   * Findings by problem and route, so that an opened finding stays open.
   *
   * @type {Map<string, ReturnType<typeof makeFinding>>}
   */
  #items = new Map()
  #takeProfile

  /** @param {(path: string) => void} takeProfile @param {Past} past */
  constructor(takeProfile, past) {
    this.#takeProfile = takeProfile
    this.#totals = new Totals(past)
    const verdict = make(
      'div',
      { class: 'verdict' },
      make('div', { role: 'status' }, this.#title),
      this.#about
    )
    byId('health').append(verdict, this.#totals.element, this.#list)
  }

  /** @param {State} state */
  update(state) {
    this.#totals.update(state)
    const { healthy, summary, findings, requests, seconds } = state.diagnosis
    byId('health').dataset.healthy = String(healthy)
    setText(this.#title, titleOf(healthy, findings, summary))
    const worker = workerOf(state)
    const traffic = `${counted(requests, 'request')} in the last ${span(seconds)}`
    const about = findings.length === 0 ? withoutVerdict(summary) : traffic
    setText(this.#about, worker === '' ? about : `Of ${worker}: ${about}`)
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

/**
 * Names the worker that the page is about; empty for a process without other workers.
 *
 * @param {State} state
 */
function workerOf({ fleet }) {
  const workers = fleet?.workers ?? []
  return workers.length < 2 ? '' : `worker ${workers[0].worker}, one of ${workers.length}`
}

/** @param {boolean | null} healthy @param {readonly Finding[]} findings @param {string} summary */
function titleOf(healthy, findings, summary) {
  if (healthy === null) return summary.split(':')[0]
  return healthy ? 'Healthy' : counted(findings.length, 'problem')
}

/**
 * The title already shows the verdict, so it is removed from this text.
 *
 * @param {Diagnosis['summary']} summary
 */
function withoutVerdict(summary) {
  const rest = summary.replace(/^(Healthy|Not enough traffic to tell|Too early to tell): /, '')
  return rest.charAt(0).toUpperCase() + rest.slice(1)
}

/** @param {Finding} finding @param {(path: string) => void} takeProfile */
function makeFinding({ problem }, takeProfile) {
  const badge = make('span', { class: 'badge' })
  const sentence = make('span')
  const advice = make('p', { class: 'advice' })
  const more = make('summary')
  const evidence = make('dl', { class: 'evidence' })
  const [place, placeTitle] = PLACES[problem] ?? []
  const [path, profileTitle] = PROFILES[problem] ?? []
  const item = make(
    'li',
    { 'data-problem': problem },
    make('p', { class: 'claim' }, badge, ' ', sentence),
    advice,
    make(
      'div',
      { class: 'next' },
      make('details', null, more, evidence),
      place === undefined ? null : make('a', { href: `#${place}` }, placeTitle),
      path === undefined
        ? null
        : make('button', { type: 'button', class: 'plain', onclick: () => takeProfile(path) }, profileTitle)
    )
  )
  return { item, badge, sentence, advice, more, evidence }
}

/** @param {ReturnType<typeof makeFinding>} parts @param {Finding} finding */
function fillFinding({ item, badge, sentence, advice, more, evidence }, finding) {
  const { severity, effectOf } = finding
  item.className = severity
  setText(badge, `${ICONS[severity]} ${severity}${effectOf === null ? '' : `, an effect of ${effectOf}`}`)
  setChildren(sentence, finding.summary, () => withCode(finding.summary))
  setChildren(advice, finding.advice, () => withCode(finding.advice))
  setText(more, counted(finding.evidence.length, 'figure'))
  const rows = finding.evidence.map((each) => [each.name, figure(each)])
  setChildren(evidence, JSON.stringify(rows), () =>
    rows.map(([name, value]) => make('div', null, make('dt', null, name), make('dd', null, value)))
  )
}

exports.HealthPanel = HealthPanel
exports.workerOf = workerOf

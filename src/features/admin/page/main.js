'use strict'
// Starts the page. Receives the lines of the stream, and updates the charts, the verdict and the sections.

const { Charts } = require('./charts')
const { byId, setText } = require('./dom')
const { errorsSection } = require('./errors')
const { span } = require('../../../core/readable')
const { Folds } = require('./folds')
const { HealthPanel, workerOf } = require('./health')
const { limitsSection } = require('./bulkheads')
const { Live } = require('./live')
const { optionsSection } = require('./options')
const { outgoingSection } = require('./outgoing')
const { Past, releaseName } = require('./past')
const { admissionSection, memorySection, releasesSection, workersSection } = require('./process')
const { poolsSection } = require('./pools')
const { profilesSection } = require('./profiles')
const { routesSection } = require('./routes')
const { saveReportButton } = require('./save-report')
const { socketsSection } = require('./sockets')
const { oldestSection, slowSection } = require('./slow')
const { stallsSection } = require('./stalls')
const { token } = require('./token')

/**
 * @import { State } from './chart-list'
 *
 * @typedef {object} Section
 * @property {string} id
 * @property {string} title
 * @property {boolean} [isWide] takes the whole width
 * @property {HTMLElement} [about] beside the title
 * @property {Node[]} content
 * @property {boolean} [isFolded] at first
 * @property {(state: State) => boolean} [isEmpty] a section that has no data to show is collapsed on a phone
 * @property {(state: State) => void} update with each snapshot and diagnosis
 * @property {() => Promise<void>} [reload] with each connection
 */

const past = new Past()
const profiles = profilesSection()
const health = new HealthPanel(profiles.take, past)
const charts = new Charts(past)
saveReportButton(past)
/** In the order of the page. @type {Section[]} */
const sections = [
  routesSection(),
  slowSection(),
  stallsSection(),
  profiles,
  errorsSection(),
  outgoingSection(),
  socketsSection(),
  poolsSection(),
  limitsSection(),
  admissionSection(),
  oldestSection(),
  memorySection(),
  workersSection(),
  releasesSection(),
  optionsSection(),
]

const folds = new Folds(sections)

let isShown = false
/** @type {State | undefined} */
let state
let isDrawing = false

/** A hidden tab draws nothing. Each animation frame draws once, even if many lines arrive. */
function draw() {
  if (isDrawing) return
  isDrawing = true
  requestAnimationFrame(() => {
    isDrawing = false
    show()
    charts.update(state)
    if (state === undefined) return
    health.update(state)
    for (const section of sections) section.update(state)
    folds.update(state)
    showIdentity(state)
  })
}

function show() {
  if (isShown) return
  isShown = true
  byId('content').hidden = false
  charts.mount()
}

/**
 * Shows which process this is, because an engineer may have the pages of several processes open.
 *
 * @param {State} state
 */
function showIdentity(state) {
  const { process: about, snapshot, diagnosis } = state
  const { findings } = diagnosis
  const release = releaseName(snapshot.releases.current)
  const service = about.service || 'spillway'
  const worker = workerOf(state)
  const names = [release, `host ${about.host}`, `pid ${about.pid}`, worker].filter(Boolean)
  setText(byId('service'), service)
  setText(byId('about'), [...names, `up ${span(snapshot.uptimeSeconds)}`].join(' · '))
  const problems = findings.length === 0 ? '' : `(${findings.length}) `
  document.title = `${problems}${service} · ${names.join(' · ')}`
}

/** @param {string} name @param {string} text */
function showConnection(name, text) {
  const element = byId('connection')
  document.body.dataset.connection = name
  setText(element, text)
}

const live = new Live({
  onOpen() {
    byId('sign-in').hidden = true
    showConnection('open', 'live')
    for (const { reload } of sections) reload?.().catch(() => {})
  },
  onLine(line) {
    if (line.history !== undefined) past.replace(line.history)
    if (line.point !== undefined) past.add(line.point)
    if (line.state !== undefined) {
      state = line.state
      past.mark(state)
    }
    draw()
  },
  onLost(retryMs, reason) {
    showConnection('lost', `Connection lost. ${reason} Trying again in ${span(retryMs / 1000)}.`)
  },
  onToken(wasWrong) {
    showConnection('waiting', '')
    byId('sign-in').hidden = false
    setText(byId('sign-in-error'), wasWrong ? 'The server does not accept this token.' : '')
    byId('token').focus()
  },
})

byId('sign-in').addEventListener('submit', (event) => {
  event.preventDefault()
  token.keep(/** @type {string} */ (byId('token').value))
  byId('token').value = ''
  live.open(true)
})

/**
 * A tab that is hidden for a minute closes its connection, because a browser opens at most six connections to
 * a server.
 */
const HIDDEN_MS = 60_000
/** @type {ReturnType<typeof setTimeout> | undefined} */
let hiddenTimer
let isPaused = false

document.addEventListener('visibilitychange', () => {
  clearTimeout(hiddenTimer)
  if (document.hidden) {
    hiddenTimer = setTimeout(() => {
      isPaused = document.body.dataset.connection === 'open'
      if (!isPaused) return
      live.close()
      showConnection('paused', 'paused while hidden')
    }, HIDDEN_MS)
  } else if (isPaused) {
    isPaused = false
    live.open(true)
  }
})
addEventListener('online', () => live.open(true))
addEventListener('pageshow', (event) => event.persisted && live.open(true))
showConnection('opening', 'connecting')
live.open()

'use strict'
// Takes and shows one profile at a time: of CPU time, or of memory that is not freed. The process says what a
// profile costs, or why it refuses one.

const { make, setText } = require('./dom')
const { duration, span } = require('../../../core/readable')
const { describeProfile, takeProfile } = require('./profile-request')
const { makeResult } = require('./profile-result')
const { WorkerChoice } = require('./worker-choice')

/**
 * @import { State } from './chart-list'
 * @import { Section } from './main'
 * @import { Progress } from './profile-request'
 * @import { ProfileKind } from './profile-result'
 */

/** @type {ProfileKind[]} */
const KINDS = [
  {
    path: 'profile',
    title: 'CPU profile',
    extension: 'cpuprofile',
    unit: 'ms',
    choices: [5, 10, 30, 60],
    usual: 10,
  },
  {
    path: 'heap',
    title: 'Heap profile',
    extension: 'heapprofile',
    unit: 'bytes',
    choices: [10, 60],
    usual: 60,
  },
]
const DESCRIBE_MS = 4000
/** After a cancel, the service needs a moment until it has ended the profile. */
const SETTLE_MS = 300

/** The button of a kind of profile, the choice of its length, what it costs, and why it is refused. */
class Control {
  element
  kind
  #seconds
  #button
  #costs = make('span', { class: 'faint' })
  #refusal = make('span', { class: 'refusal' })
  #isRefused = true
  /** The control whose profile is being taken. @type {Control | undefined} */
  #running

  /** @param {ProfileKind} kind @param {(control: Control) => void} onPress */
  constructor(kind, onPress) {
    const { path, title, choices, usual } = kind
    this.kind = kind
    const about = make('p', { id: `${path}-costs` }, this.#refusal, this.#costs)
    this.#button = make(
      'button',
      {
        type: 'button',
        class: 'take',
        disabled: true,
        'aria-describedby': about.id,
        onclick: () => onPress(this),
      },
      title
    )
    this.#seconds = make(
      'select',
      { 'aria-label': `Seconds of the ${title}` },
      ...choices.map((each) => make('option', { value: each, selected: each === usual }, span(each)))
    )
    this.element = make('div', { class: 'control' }, this.#button, this.#seconds, about)
  }

  get seconds() {
    return Number(this.#seconds.value)
  }

  /** @param {Control | undefined} control whose profile is being taken */
  set running(control) {
    this.#running = control
    this.#show()
  }

  /** @param {string} worker */
  async describe(worker) {
    const { costs, expectedPauseMs, refusal } = await describeProfile(this.kind.path, worker)
    setText(this.#costs, `${costs} In this process the start takes about ${duration(expectedPauseMs)}.`)
    // While this control's own profile runs, the progress bar below says so. So its refusal is not shown
    // here.
    setText(this.#refusal, refusal === null || this.#running === this ? '' : `${refusal} `)
    this.#isRefused = refusal !== null
    this.#show()
  }

  /** Disables the button until the newly chosen worker has said whether it refuses. */
  refuse() {
    this.#isRefused = true
    this.#show()
  }

  #show() {
    this.#button.disabled = this.#isRefused || this.#running !== undefined
    this.#seconds.disabled = this.#running !== undefined
  }

  press() {
    this.focus()
    this.#button.click()
  }

  focus() {
    this.#button.focus({ preventScroll: true })
  }
}

class Profiles {
  content
  #controls = KINDS.map((kind) => new Control(kind, (control) => this.#take(control)))
  #bar = make('progress', { 'aria-label': 'Progress of the profile' })
  #about = make('span')
  #cancel = make('button', { type: 'button', class: 'plain', onclick: () => this.#abort?.abort() }, 'Cancel')
  #running = make('p', { class: 'running', hidden: true }, this.#bar, this.#about, this.#cancel)
  #status = make('p', { role: 'status' })
  #result = make('div')
  /** @type {AbortController | undefined} */
  #abort
  #worker = new WorkerChoice(() => {
    for (const control of this.#controls) control.refuse()
    this.describe()
  })
  #isSeen = false
  #describedMs = Number.NEGATIVE_INFINITY

  constructor() {
    const controls = make('div', { class: 'controls' }, ...this.#controls.map(({ element }) => element))
    this.content = [this.#worker.element, controls, this.#running, this.#status, this.#result]
    new IntersectionObserver((entries) => {
      this.#isSeen = entries[entries.length - 1].isIntersecting
      this.refresh()
    }).observe(controls)
  }

  /** @param {State} state */
  update({ fleet }) {
    this.#worker.update(fleet)
    this.refresh()
  }

  /** Asks only while the controls are visible, and not too often. */
  refresh() {
    if (this.#isSeen && performance.now() - this.#describedMs >= DESCRIBE_MS) this.describe()
  }

  async describe() {
    this.#describedMs = performance.now()
    const worker = this.#worker.name
    await Promise.all(this.#controls.map((control) => control.describe(worker))).catch(() => {})
  }

  /**
   * Starts the profile that a finding of the doctor asks for. If the process refuses it, the reason stands
   * beside the button.
   *
   * @param {string} path
   */
  takeFor(path) {
    const control = this.#controls.find(({ kind }) => kind.path === path)
    control?.element.scrollIntoView({ block: 'start' })
    control?.press()
  }

  /** @param {Control} control */
  async #take(control) {
    if (this.#abort !== undefined) return
    const abort = (this.#abort = new AbortController())
    const worker = this.#worker.name
    /** @type {Parameters<typeof takeProfile>[1]} */
    const asked = {
      worker,
      seconds: control.seconds,
      signal: abort.signal,
      onProgress: (at) => this.#showProgress(at),
      onRest: (restS) =>
        setText(
          this.#about,
          `Starts in ${span(restS)}. After the previous pause, the loop must first run freely`
        ),
    }
    setText(this.#status, '')
    this.#show(control)
    setText(this.#about, 'Starting')
    this.#bar.removeAttribute('value')
    this.#cancel.focus({ preventScroll: true })
    try {
      const result = await takeProfile(control.kind.path, asked)
      this.#result.replaceChildren(makeResult(control.kind, result, worker))
      setText(this.#status, '')
    } catch (error) {
      setText(this.#status, abort.signal.aborted ? 'Cancelled.' : /** @type {Error} */ (error).message)
    }
    const hadFocus = document.activeElement === this.#cancel
    this.#abort = undefined
    this.#show(undefined)
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    await this.describe()
    if (hadFocus && document.activeElement === document.body) control.focus()
  }

  /** @param {Control | undefined} running */
  #show(running) {
    this.#running.hidden = running === undefined
    this.#worker.isDisabled = running !== undefined
    for (const control of this.#controls) control.running = running
  }

  /** @param {Progress} progress */
  #showProgress({ elapsedMs, totalMs }) {
    if (!this.#bar.hasAttribute('value')) this.describe()
    this.#bar.max = totalMs
    this.#bar.value = elapsedMs
    const isOver = elapsedMs >= totalMs
    setText(
      this.#about,
      isOver ? 'Making the tables' : `${span(elapsedMs / 1000)} of ${span(totalMs / 1000)}`
    )
  }
}

/** @returns {Section & { take: (path: string) => void }} */
function profilesSection() {
  const profiles = new Profiles()
  return {
    id: 'profiles',
    title: 'Profiles',
    isWide: true,
    content: profiles.content,
    update: (state) => profiles.update(state),
    reload: () => profiles.describe(),
    take: (path) => profiles.takeFor(path),
  }
}

module.exports = { profilesSection }

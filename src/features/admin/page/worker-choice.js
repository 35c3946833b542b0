'use strict'
// The choice of the worker to profile, in a fleet. It is hidden for a process without other workers.

const { make, setChildren } = require('./dom')

/** @import { State } from './chart-list' */

class WorkerChoice {
  #select
  element

  /** @param {() => void} onChange */
  constructor(onChange) {
    this.#select = make('select', { onchange: onChange })
    this.element = make(
      'p',
      { class: 'worker', hidden: true },
      make('label', null, 'Of worker ', this.#select)
    )
  }

  /** @returns {string} empty for the worker that answers */
  get name() {
    return this.#select.value
  }

  /** @param {boolean} isDisabled */
  set isDisabled(isDisabled) {
    this.#select.disabled = isDisabled
  }

  /** @param {State['fleet']} fleet its first worker is the one that answers */
  update(fleet) {
    const names = fleet?.workers.map(({ worker }) => String(worker)) ?? []
    this.element.hidden = names.length < 2
    const chosen = names.slice(1).includes(this.name) ? this.name : ''
    setChildren(this.#select, JSON.stringify(names), () =>
      names.map((name, i) =>
        i === 0
          ? make('option', { value: '' }, `${name}, which shows this page`)
          : make('option', { value: name }, name)
      )
    )
    this.#select.value = chosen
  }
}

exports.WorkerChoice = WorkerChoice

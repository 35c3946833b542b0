'use strict'
// Each section below the charts can be collapsed. On a phone, sections without data are collapsed, so that
// sections with data come first.

const { byId, make } = require('./dom')

/**
 * @import { State } from './chart-list'
 * @import { Section } from './main'
 */

/** The same width as in narrow.css. */
const PHONE = '(max-width: 560px)'

class Folds {
  #folds
  #isPhone = matchMedia(PHONE)

  /** @param {readonly Section[]} sections */
  constructor(sections) {
    this.#folds = sections.map((section) => ({
      details: makeFold(section),
      isEmpty: section.isEmpty,
      wasEmpty: false,
    }))
    byId('sections').append(...this.#folds.map(({ details }, i) => makeElement(sections[i], details)))
    // A link to a section opens it.
    document.addEventListener('click', ({ target }) => {
      const link = target instanceof Element ? target.closest('a[href^="#"]') : null
      const section =
        link === null ? null : document.querySelector(/** @type {string} */ (link.getAttribute('href')))
      const fold = section?.querySelector('details')
      if (fold) fold.open = true
    })
  }

  /**
   * A section is opened or collapsed only when it becomes empty or stops being empty. Otherwise the choice of
   * the reader is kept.
   *
   * @param {State} state
   */
  update(state) {
    for (const fold of this.#folds) {
      const isEmpty = this.#isPhone.matches && fold.isEmpty?.(state) === true
      if (isEmpty === fold.wasEmpty) continue
      fold.wasEmpty = isEmpty
      fold.details.open = !isEmpty
    }
  }
}

/** @param {Section} section */
const makeFold = ({ id, title, isFolded, about, content }) => {
  about?.classList.add('beside')
  return make(
    'details',
    { class: 'fold', open: !isFolded },
    make('summary', null, make('h2', { id: `${id}-title` }, title)),
    about,
    ...content
  )
}

/** @param {Section} section @param {HTMLElement} fold */
const makeElement = ({ id, isWide }, fold) =>
  make('section', { id, class: isWide ? 'wide' : null, 'aria-labelledby': `${id}-title` }, fold)

exports.Folds = Folds

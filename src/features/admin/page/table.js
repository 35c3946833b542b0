'use strict'
// A table that is updated in place: sortable columns, and rows that open to show more. A row keeps its
// elements while its figures change. The order does not change under a pointer or a focus in the table.

const { make, setChildren, setName, setText, withCode } = require('./dom')

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} title
 * @property {string} [about] shown when the pointer rests on the title
 * @property {boolean} [isText] aligned left; figures are aligned right
 * @property {(row: Row) => number | string} [sort] makes the column sortable
 * @property {(row: Row) => string} [name] a text that is cut in the middle if it does not fit
 * @property {(row: Row) => string} [text]
 * @property {(cell: HTMLElement, row: Row) => void} [fill] in place of `name` and `text`
 */

/**
 * @template Row
 * @typedef {object} TableOptions
 * @property {string} caption for screen readers
 * @property {Column<Row>[]} columns the first one names the row
 * @property {(row: Row) => string} keyOf
 * @property {string} empty the text without rows: what to do, or that nothing has happened
 * @property {(row: Row) => Node} [detail] makes the content of an opened row, anew with each update
 * @property {(row: Row) => Lasting} [lasting] makes the part of an opened row that stays while the figures
 *   change. It stands before the detail
 * @property {number} [sortedBy] index of the column
 * @property {boolean} [ascending]
 * @property {number} [most] rows that are shown before the button that shows all
 * @property {string} [filter] the label of a field that filters rows by their key. It is shown once there are
 *   more rows than `most`
 */

/** @typedef {{ element: HTMLElement, close: () => void }} Lasting close: called when it is no longer shown */

/**
 * @template Row
 * @typedef {{ tr: HTMLElement, cells: HTMLElement[], data: Row | undefined, detail: HTMLElement | undefined,
 *   content: HTMLElement | undefined, lasting: Lasting | undefined }} Parts of a row that is shown
 */

/**
 * @template Row
 * @typedef {Parts<Row> & { data: Row, content: HTMLElement, get detail(): HTMLElement,
 *   set detail(detail: HTMLElement | undefined) }} OpenParts
 */

/**
 * @template Row
 * @typedef {{ get(key: string): Parts<Row> } & Map<string, Parts<Row>>} Shown only `#fill` asks for a key
 *   that may be missing
 */

let tables = 0

/** @template Row */
class Table {
  element
  #options
  #id = `table-${++tables}`
  #body = make('tbody')
  #heads
  #empty
  #filter
  #more
  #scroll
  /** The elements of the rows that are shown, by key. */
  #rows = /** @type {Shown<Row>} */ (new Map())
  /** @type {Set<string>} */
  #keys = new Set()
  /** @type {Row[]} */
  #data = []
  /** @type {Set<string>} */
  #open = new Set()
  #sortedBy
  #ascending
  #showsAll = false
  /** Search words of the reader, in lower case. @type {string[]} */
  #wanted = []

  /** @param {TableOptions<Row>} options */
  constructor(options) {
    this.#options = options
    this.#sortedBy = options.sortedBy
    this.#ascending = options.ascending ?? false
    this.#heads = options.columns.map((column, i) => this.#makeHead(column, i))
    const table = make(
      'table',
      { id: this.#id },
      make('caption', { class: 'unseen' }, options.caption),
      make('thead', null, make('tr', null, ...this.#heads)),
      this.#body
    )
    this.#scroll = make(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': options.caption },
      table
    )
    this.#empty = make('p', { class: 'empty' })
    this.#more = make('button', {
      type: 'button',
      class: 'more',
      hidden: true,
      onclick: () => this.#showAll(),
    })
    this.#filter = make('input', {
      type: 'search',
      class: 'filter',
      hidden: true,
      'aria-label': options.filter,
      placeholder: options.filter,
      oninput: () => this.#filterBy(this.#filter.value),
    })
    this.element = make('div', { class: 'table' }, this.#filter, this.#scroll, this.#empty, this.#more)
    this.#showSort()
  }

  /** @param {Column<Row>} column @param {number} i */
  #makeHead({ title, about, isText, sort }, i) {
    const label =
      sort === undefined
        ? title
        : make(
            'button',
            { type: 'button', onclick: () => this.#sortBy(i) },
            title,
            make('span', { class: 'arrow', 'aria-hidden': 'true' })
          )
    return make('th', { scope: 'col', class: isText ? 'text' : 'figure', title: about }, label)
  }

  /** @param {number} i */
  #sortBy(i) {
    this.#ascending = this.#sortedBy === i ? !this.#ascending : this.#options.columns[i].isText === true
    this.#sortedBy = i
    this.#showSort()
    this.#arrange()
  }

  #showSort() {
    for (const [i, head] of this.#heads.entries()) {
      const isSorted = i === this.#sortedBy
      if (isSorted) head.setAttribute('aria-sort', this.#ascending ? 'ascending' : 'descending')
      else head.removeAttribute('aria-sort')
      const arrow = head.querySelector('.arrow')
      if (arrow !== null) setText(arrow, isSorted ? (this.#ascending ? '▲' : '▼') : '')
    }
  }

  /** @param {string} text all of its words must be in the key */
  #filterBy(text) {
    this.#wanted = text.toLowerCase().split(/\s+/).filter(Boolean)
    this.#arrange()
  }

  #showAll() {
    this.#showsAll = !this.#showsAll
    this.#arrange()
  }

  /** Only visible rows are made. @param {readonly Row[]} data */
  update(data) {
    const { keyOf } = this.#options
    const before = this.#keys
    this.#data = [...data]
    this.#keys = new Set(this.#data.map(keyOf))
    const isUsed = this.#body.matches(':hover') || this.#body.contains(document.activeElement)
    const isSame = before.size === this.#keys.size && [...before].every((key) => this.#keys.has(key))
    if (!isUsed || !isSame) return this.#arrange()
    for (const row of this.#data) if (this.#rows.has(keyOf(row))) this.#fill(row)
  }

  /** @param {Row} row */
  #fill(row) {
    const { columns, keyOf } = this.#options
    const key = keyOf(row)
    let parts = this.#rows.get(key)
    if (parts === undefined) this.#rows.set(key, (parts = this.#makeRow(key)))
    parts.data = row
    for (const [i, { name, text, fill }] of columns.entries()) {
      if (fill !== undefined) fill(parts.cells[i], row)
      else if (name !== undefined) setName(parts.cells[i], name(row))
      else setText(parts.cells[i], text?.(row) ?? '')
    }
    if (parts.detail !== undefined) this.#fillDetail(/** @type {OpenParts<Row>} */ (parts))
  }

  /** @param {string} key */
  #makeRow(key) {
    const { columns, detail } = this.#options
    const tr = make('tr')
    /** @type {HTMLElement[]} */
    const cells = columns.map(({ isText }, i) => {
      const name = isText ? 'text' : 'figure'
      const cell = i === 0 ? make('th', { scope: 'row', class: name }) : make('td', { class: name })
      tr.append(cell)
      return cell
    })
    /** @type {Parts<Row>} */
    const parts = { tr, cells, data: undefined, detail: undefined, content: undefined, lasting: undefined }
    if (detail === undefined) return parts
    /** @type {HTMLElement} */
    const button = make('button', {
      type: 'button',
      class: 'opener',
      'aria-expanded': 'false',
      onclick: () => this.#toggle(key, button),
    })
    cells[0].append(button)
    cells[0] = button
    return parts
  }

  /** @param {string} key @param {HTMLElement} button */
  #toggle(key, button) {
    const parts = /** @type {OpenParts<Row>} */ (this.#rows.get(key))
    const isOpen = !this.#open.has(key)
    button.setAttribute('aria-expanded', String(isOpen))
    if (isOpen) {
      this.#open.add(key)
      parts.content = make('div')
      parts.lasting = this.#options.lasting?.(parts.data)
      const cell = make(
        'td',
        { colspan: this.#options.columns.length },
        parts.lasting?.element,
        parts.content
      )
      parts.detail = make('tr', { class: 'detail' }, cell)
      this.#fillDetail(parts)
      parts.tr.after(parts.detail)
    } else {
      this.#open.delete(key)
      parts.lasting?.close()
      parts.detail.remove()
      parts.detail = undefined
    }
  }

  /** @param {OpenParts<Row>} parts */
  #fillDetail({ content, data }) {
    content.replaceChildren(this.#options.detail?.(data) ?? '')
  }

  #arrange() {
    const { empty, filter, keyOf, most = Number.POSITIVE_INFINITY } = this.#options
    const sorted = this.#sorted().filter((row) => this.#isWanted(keyOf(row)))
    const shown = sorted.filter((row, i) => this.#showsAll || i < most || this.#open.has(keyOf(row)))
    const keys = new Set(shown.map(keyOf))
    for (const key of this.#rows.keys()) if (!keys.has(key)) this.#remove(key)
    for (const row of shown) this.#fill(row)
    this.#place(shown.map((row) => this.#rows.get(keyOf(row))))
    this.#filter.hidden = filter === undefined || (this.#data.length <= most && this.#wanted.length === 0)
    const words = this.#data.length === 0 ? empty : 'Nothing matches.'
    setChildren(this.#empty, words, () => withCode(words))
    this.#empty.hidden = sorted.length > 0
    this.#scroll.hidden = sorted.length === 0
    this.#more.hidden = sorted.length <= most
    setText(this.#more, this.#showsAll ? `Show ${most} of ${sorted.length}` : `Show all ${sorted.length}`)
  }

  /**
   * Moves only rows that are not in their place. A moved element loses the focus, so the focus is set again.
   *
   * @param {Parts<Row>[]} shown
   */
  #place(shown) {
    const focused = document.activeElement
    const wanted = shown.flatMap(({ tr, detail }) => (detail === undefined ? [tr] : [tr, detail]))
    /** @type {Set<Element>} */
    const kept = new Set(wanted)
    for (const tr of [...this.#body.children]) if (!kept.has(tr)) tr.remove()
    for (const [i, tr] of wanted.entries()) {
      const there = this.#body.children[i]
      if (there !== tr) this.#body.insertBefore(tr, there ?? null)
    }
    if (focused instanceof HTMLElement && this.#body.contains(focused)) focused.focus({ preventScroll: true })
  }

  /** @param {string} key */
  #remove(key) {
    this.#rows.get(key).lasting?.close()
    this.#rows.delete(key)
    this.#open.delete(key)
  }

  /** @param {string} key */
  #isWanted(key) {
    const text = key.toLowerCase()
    return this.#wanted.every((word) => text.includes(word))
  }

  #sorted() {
    const sort = this.#sortedBy === undefined ? undefined : this.#options.columns[this.#sortedBy].sort
    if (sort === undefined) return this.#data
    const sign = this.#ascending ? 1 : -1
    return [...this.#data].sort((a, b) => sign * compare(sort(a), sort(b)))
  }
}

/** @param {number | string} a @param {number | string} b */
const compare = (a, b) =>
  typeof a === 'string' ? a.localeCompare(/** @type {string} */ (b)) : a - /** @type {number} */ (b)

exports.Table = Table

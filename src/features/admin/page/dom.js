'use strict'
// Makes and changes elements. Text is inserted as text, never as markup, because names of routes and error
// messages may contain anything.

/**
 * @typedef {string | number | boolean | null | undefined | Record<string, string> | ((event: never) => void)}
 *   Value
 * @typedef {{ [Name in keyof HTMLElementEventMap as `on${Name}`]?: (event: HTMLElementEventMap[Name]) => void }}
 *   Handlers
 * @typedef {Handlers & { [name: string]: Value }} Attributes `class`, `style` (an object), `on*` handlers and
 *   any attribute;
 *   `null` and `false` are left out
 */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes | null} [attributes]
 * @param {...(Node | string | null | undefined)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes ?? {})) setAttribute(element, name, value)
  for (const child of children) if (child !== null && child !== undefined) element.append(child)
  return element
}

const SVG = 'http://www.w3.org/2000/svg'

/**
 * @param {string} tag of SVG
 * @param {Attributes | null} [attributes]
 * @param {...Node} children
 * @returns {SVGElement}
 */
function draw(tag, attributes, ...children) {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, tag))
  for (const [name, value] of Object.entries(attributes ?? {})) setAttribute(element, name, value)
  element.append(...children)
  return element
}

/** @param {HTMLElement | SVGElement} element @param {string} name @param {Value} value */
function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) return
  if (name.startsWith('on')) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value))
  else if (name === 'style') setStyle(element, /** @type {Record<string, string>} */ (value))
  else element.setAttribute(name, value === true ? '' : String(value))
}

/**
 * Sets styles by the object model. The policy of the page allows this, but not an attribute `style`.
 *
 * @param {HTMLElement | SVGElement} element @param {Record<string, string>} styles
 */
function setStyle(element, styles) {
  for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value)
}

/**
 * Changes only what differs, so that a selection and a screen reader's place are kept.
 *
 * @param {Element} element
 * @param {string} text
 */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text
}

/** A name up to this length mostly fits. */
const SHORT = 24
/** Characters at the end of a name that are always shown, because names of routes often differ there. */
const LONGEST_END = 26

/**
 * Sets a name that is cut in the middle if it does not fit. A pointer that rests on the name shows it whole.
 * Tables also show the whole name when its button has the keyboard focus, or when its row is open.
 *
 * @param {HTMLElement} element @param {string} name
 */
function setName(element, name) {
  setChildren(element, name, () => {
    if (name.length <= SHORT) return [name]
    const endAt = name.length - Math.min(LONGEST_END, Math.floor(name.length / 2))
    return [
      make(
        'span',
        { class: 'name', title: name },
        make('span', null, name.slice(0, endAt)),
        make('span', null, name.slice(endAt))
      ),
    ]
  })
  if (element.tagName === 'BUTTON') element.setAttribute('aria-label', name)
}

/**
 * Replaces the children only if `key` has changed since the last time.
 *
 * @param {Element & { spillwayKey?: string }} element @param {string} key @param {() => (Node | string)[]}
 *   makeChildren
 */
function setChildren(element, key, makeChildren) {
  if (element.spillwayKey === key) return
  element.spillwayKey = key
  element.replaceChildren(...makeChildren())
}

/**
 * Splits a text into plain parts and code between backticks.
 *
 * @param {string} text
 * @returns {(Node | string)[]}
 */
const withCode = (text) => text.split('`').map((part, i) => (i % 2 === 0 ? part : make('code', null, part)))

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement & { value?: string }} */ (document.getElementById(id))

module.exports = { byId, draw, make, setChildren, setName, setStyle, setText, withCode }

'use strict'
// Makes and changes elements. Text goes in as text, never as markup: routes and messages of errors may hold anything.

/**
 * @typedef {Record<string, any>} Attributes `class`, `style` (an object), `on*` handlers and any attribute; `null` and `false` are left out
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

function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) return
  if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
  else if (name === 'style') setStyle(element, value)
  else element.setAttribute(name, value === true ? '' : String(value))
}

/** By the object model, which the policy of the page allows: an attribute `style` is not. */
function setStyle(element, styles) {
  for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value)
}

/** Changes only what differs, so that a selection and a screen reader's place are kept. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text
}

/** Replaces the children only if `key` has changed since the last time. @param {any} element @param {string} key @param {() => (Node | string)[]} makeChildren */
function setChildren(element, key, makeChildren) {
  if (element.spillwayKey === key) return
  element.spillwayKey = key
  element.replaceChildren(...makeChildren())
}

/** The parts of a text, of which those between backticks are code. @param {string} text @returns {(Node | string)[]} */
const withCode = (text) => text.split('`').map((part, i) => (i % 2 === 0 ? part : make('code', null, part)))

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id)

module.exports = { byId, draw, make, setChildren, setStyle, setText, withCode }

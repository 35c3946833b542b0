'use strict'
// Chooses the stack frame of a blocked thread that a person should look at: the innermost of the application,
// and the package it called. Frames of Spillway are left out. Where source maps are on, places are those of
// the source.

const { findSourceMap } = require('node:module')
const { dirname, isAbsolute, relative, sep } = require('node:path')
const { pathOf, placesIn } = require('./call-place')

const OWN_FOLDER = dirname(__dirname) + sep
const PACKAGE = /[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)(?!.*[/\\]node_modules[/\\])/
const MOST_SHOWN = 20

/**
 * @typedef {{ name: string, url: string, line: number, column: number, begin: number }} Frame
 * @typedef {Omit<Frame, 'url'> & { path: string }} Place
 */

/**
 * @param {readonly Frame[]} frames the innermost first
 * @returns {{ function: string, file: string, begin: number, line: number, package: string | null,
 *   frames: string[] } | undefined} undefined where Spillway's own code ran
 */
function placeOf(frames) {
  const all = frames.map(readFrame)
  // Read in code of Spillway, such as the end of the turn: what blocked the loop is over.
  if (isOwn(all.find(({ path }) => !isOfNode(path)))) return undefined
  const places = all.filter((place) => !isOwn(place))
  if (places.length === 0) return undefined
  const chosen = places.find(isOfApplication) ?? places.find(({ path }) => !isOfNode(path)) ?? places[0]
  const inner = places.slice(0, places.indexOf(chosen) + 1).find(({ path }) => !isOfNode(path))
  const { name, file, begin, line } = sourceOf(chosen)
  return {
    function: name,
    file,
    begin,
    line,
    package: packageOf((inner ?? chosen).path),
    frames: places.slice(0, MOST_SHOWN).map(frameText),
  }
}

/** A function of V8 has no file. @param {Place} place */
function frameText(place) {
  if (place.line === 0) return `${place.name} (V8)`
  const { name, file, line } = sourceOf(place)
  return `${name} (${file}:${line})`
}

/**
 * The innermost line of the application in a stack as V8 writes it, or else of a package.
 *
 * @param {unknown} stack
 * @returns {string | null}
 */
function placeInStack(stack) {
  const places = placesIn(stack).filter((path) => !isOwn({ path }))
  const place = places.find((path) => packageOf(path) === null) ?? places[0]
  return place === undefined ? null : shown(place)
}

/** @param {Frame} frame @returns {Place} */
function readFrame({ name, url, line, column, begin }) {
  return { name: name || '(anonymous)', path: pathOf(url), line, column, begin }
}

/** @param {{ path: string } | undefined} place */
const isOwn = (place) => place?.path.startsWith(OWN_FOLDER) === true
/** @param {string} path */
const isOfNode = (path) => path === '' || path.startsWith('node:')
/** @param {{ path: string }} place */
const isOfApplication = ({ path }) => !isOfNode(path) && !PACKAGE.test(path)
/** @param {string} path */
const packageOf = (path) => PACKAGE.exec(path)?.[1].replace('\\', '/') ?? null

/** The original source place, if Node knows the file's source map. @param {Place} place */
function sourceOf({ name, path, line, column, begin }) {
  const entry = isAbsolute(path) ? entryOf(path, line, column) : undefined
  if (entry === undefined) return { name, file: shown(path), line, begin }
  return { name, file: shown(pathOf(entry.originalSource)), line: entry.originalLine + 1, begin }
}

/** @param {string} path @param {number} line @param {number} column */
function entryOf(path, line, column) {
  try {
    const entry = /** @type {import('node:module').SourceMapping | undefined} */ (
      findSourceMap(path)?.findEntry(line - 1, column)
    )
    return entry?.originalSource === undefined ? undefined : entry
  } catch {
    // A malformed map is ignored.
    return undefined
  }
}

/** From the working directory, if that is above the file. @param {string} path */
function shown(path) {
  if (!isAbsolute(path)) return path === '' ? '(unknown)' : path
  try {
    const fromHere = relative(process.cwd(), path)
    return fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere
  } catch {
    // The working directory was removed.
    return path
  }
}

module.exports = { isOfNode, isOwn, packageOf, placeInStack, placeOf, shown, sourceOf }

'use strict'
// Chooses the stack frame of a blocked thread that a person should look at: the innermost of the application,
// and the package it called. Frames of Spillway are left out. Where source maps are on, places are those of
// the source.

const { findSourceMap } = require('node:module')
const { isAbsolute, relative, sep } = require('node:path')
const { pathOf, placesIn } = require('./call-place')
const { OWN_FOLDER } = require('./own-files')

const PACKAGE = /[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)(?!.*[/\\]node_modules[/\\])/
const MAX_SHOWN = 20

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
  // The stack was read while Spillway's own code ran, such as at the end of the turn. By then, the code that
  // blocked the loop has ended.
  if (isOwn(all.find(({ path }) => !isOfNode(path)))) return undefined
  const places = all.filter((place) => !isOwn(place))
  if (places.length === 0) return undefined
  const chosen = places.find(isOfApplication) ?? places.find(({ path }) => !isOfNode(path)) ?? places[0]
  const inner = places.slice(0, places.indexOf(chosen) + 1).find(({ path }) => !isOfNode(path))
  return {
    function: chosen.name,
    file: shown(chosen.path),
    begin: chosen.begin,
    line: chosen.line,
    package: packageOf((inner ?? chosen).path),
    frames: places.slice(0, MAX_SHOWN).map(frameText),
  }
}

/** A function of V8 has no file. @param {Place} place */
function frameText(place) {
  if (place.line === 0) return `${place.name} (V8)`
  return `${place.name} (${shown(place.path)}:${place.line})`
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
  return sourceOf({ name: name || '(anonymous)', path: pathOf(url), line, column, begin })
}

/**
 * In a bundle, only a source map shows which package a line belongs to.
 *
 * @param {{ path: string } | undefined} place
 */
const isOwn = (place) =>
  place !== undefined &&
  ((OWN_FOLDER !== undefined && place.path.startsWith(OWN_FOLDER + sep)) ||
    packageOf(place.path) === 'spillway')
/** @param {string} path */
const isOfNode = (path) => path === '' || path.startsWith('node:')
/** @param {{ path: string }} place */
const isOfApplication = ({ path }) => !isOfNode(path) && !PACKAGE.test(path)
/** @param {string} path */
const packageOf = (path) => PACKAGE.exec(path)?.[1].replace('\\', '/') ?? null

/** The place in the source, if Node knows the file's source map. @param {Place} place @returns {Place} */
function sourceOf(place) {
  const { path, line, column } = place
  const entry = isAbsolute(path) ? entryOf(path, line, column) : undefined
  if (entry === undefined) return place
  return { ...place, path: pathOf(entry.originalSource), line: entry.originalLine + 1 }
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

/** Returns the path relative to the working directory, if the file is inside it. @param {string} path */
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

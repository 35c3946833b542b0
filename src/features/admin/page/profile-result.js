'use strict'
// A finished profile: a summary in one sentence, its files to save, the tables and the flame graph.

const { make, setText } = require('./dom')
const { FlameGraph } = require('./flame')
const { bytes, count, duration, timeOfDay } = require('../../../core/readable')
const { saveFile } = require('./profile-request')
const { makeGrowth, makeTables } = require('./profile-tables')

/**
 * @import { FlameNode, Unit } from './flame-layout'
 * @import { Figures, ProfileRow } from './profile-tables'
 *
 * @typedef {{ path: string, title: string, extension: string, unit: Unit, choices: number[], usual: number }}
 *   ProfileKind
 * @typedef {{ durationMs: number, startPauseMs: number, samples: number, flame: FlameNode,
 *   growth?: ProfileRow[], growthMs?: number } & Record<'functions' | 'packages' | 'files', ProfileRow[]> &
 *   Partial<Record<'busyMs' | 'idleMs' | 'aliveBytes' | 'readPauseMs', number>>} ProfileResult as the process
 *   sends it
 */

/** @type {Record<Unit, Figures>} */
const FIGURES = {
  ms: { self: 'selfMs', total: 'totalMs', write: duration },
  bytes: { self: 'selfBytes', total: 'totalBytes', write: bytes },
}

/**
 * @param {ProfileKind} kind
 * @param {ProfileResult} result
 * @param {string} worker empty for the worker that answers
 */
function makeResult(kind, result, worker) {
  const figures = FIGURES[kind.unit]
  const { growth, growthMs, flame } = result
  const note = noteOf(kind, result)
  return make(
    'div',
    { class: 'profile' },
    make(
      'h3',
      null,
      `${kind.title}${worker && ` of worker ${worker}`}, ${duration(result.durationMs)} until ${timeOfDay(Date.now())}`
    ),
    make('p', { class: 'faint' }, aboutOf(kind, result)),
    note === undefined ? null : make('p', null, note),
    makeFiles(kind, worker),
    growth === undefined ? null : makeGrowth(growth, growthMs, figures),
    ...(flame[kind.unit] > 0
      ? [
          makeTables(result, figures),
          new FlameGraph(flame, { unit: kind.unit, write: figures.write }).element,
        ]
      : [])
  )
}

/** @param {ProfileKind} kind @param {ProfileResult} result */
function aboutOf({ unit }, { busyMs, idleMs, aliveBytes, readPauseMs, samples, startPauseMs }) {
  const of =
    unit === 'ms'
      ? `Busy ${duration(busyMs)}, idle ${duration(idleMs)}`
      : `${bytes(aliveBytes)} were allocated and are still in memory`
  const reading =
    readPauseMs === undefined ? '' : `, and each reading blocked it for at most ${duration(readPauseMs)}`
  return `${of}; ${count(samples)} samples. The start blocked the event loop for ${duration(startPauseMs)}${reading}.`
}

/** @param {ProfileKind} kind @param {ProfileResult} result */
function noteOf({ unit }, { flame }) {
  if (flame[unit] > 0) return undefined
  return unit === 'ms'
    ? 'The process did nothing in this time.'
    : 'Nothing that was allocated in this time is still in memory. Take a longer profile, or take it under more load.'
}

/** @param {ProfileKind} kind @param {string} worker */
function makeFiles({ path, extension }, worker) {
  const error = make('span', { class: 'bad', role: 'alert' })
  /** @param {string} name @param {string} title */
  const link = (name, title) =>
    make('button', { type: 'button', class: 'plain', onclick: () => save(`${path}/last.${name}`) }, title)
  /** @param {string} file */
  const save = (file) => {
    setText(error, '')
    saveFile(file, worker).catch(({ message }) => setText(error, message))
  }
  return make(
    'p',
    { class: 'files' },
    link(extension, `Save .${extension}`),
    link('pb.gz', 'Save pprof'),
    error
  )
}

module.exports = { makeResult }

'use strict'
// Restrictions of this process by Node's permission model (`--permission`). Spillway checks permissions
// before it starts a feature. Without the check, a thread that connects to a missing inspector would abort
// the process. Results are not cached, because `process.permission.drop()` revokes permissions.

const { tmpdir } = require('node:os')
const path = require('node:path')
const { OWN_FOLDER } = require('../own-files')

/** @import { FleetOptions, ForbiddenFeature, ResolvedOptions } from '../../../index.js' */

/** A bundle has no folder of sources, so it needs the folder of the installed package. */
const SOURCES = OWN_FOLDER ?? path.resolve('node_modules/spillway/src')
const isLinux = process.platform === 'linux'

/**
 * @typedef {{ scope: string, path?: string, grant: string }} Need what must be granted, and the flag that
 *   grants it
 */

/** @param {string} file @param {string} [granted] @returns {Need} */
const read = (file, granted = file) => ({ scope: 'fs.read', path: file, grant: `--allow-fs-read=${granted}` })

/** @type {Need} */
const INSPECTOR = { scope: 'inspector', grant: '--allow-inspector' }
/** @type {Need} */
const WORKER = { scope: 'worker', grant: '--allow-worker' }
const OWN_FILES = read(path.join(SOURCES, 'index.js'), path.join(SOURCES, '*'))
/** A thread of ours that uses the inspector. */
const INSPECTING_THREAD = [INSPECTOR, WORKER, OWN_FILES]

/** Features that every process has, with what each needs. @type {Record<string, Need[]>} */
const FEATURES = {
  'stall-functions': INSPECTING_THREAD,
  profiles: INSPECTING_THREAD,
  page: [OWN_FILES],
  ...(isLinux && {
    'cpu-waits': [read('/proc/thread-self/schedstat', '/proc/*')],
    'container-limits': [read('/sys/fs/cgroup/cpu.max', '/sys/fs/cgroup/*')],
  }),
}

/** @returns {boolean} whether `--permission-audit` is on: it forbids nothing, but Node makes no inspector */
const isAudit = () =>
  [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(' ')].includes('--permission-audit')

/** @param {Need[]} needs @returns {string[]} the flags that are missing */
function missingGrants(needs) {
  const { permission } = process
  if (permission === undefined) return []
  const asked = isAudit() ? needs.filter((need) => need === INSPECTOR) : needs
  return asked.filter((need) => !permission.has(need.scope, need.path)).map(({ grant }) => grant)
}

/** @param {string} folder whose files are read, written and replaced @returns {Need[]} */
function filesIn(folder) {
  const inside = path.resolve(folder, 'spillway')
  const around = path.resolve(folder, '*')
  return [read(inside, around), { scope: 'fs.write', path: inside, grant: `--allow-fs-write=${around}` }]
}

/** @param {'stall-functions' | 'profiles'} feature @returns {string[]} */
const missingFor = (feature) => missingGrants(FEATURES[feature])

/**
 * @param {{ options: Pick<ResolvedOptions, 'fleet' | 'insight' | 'release'>, isOfFleet: boolean }} deps
 * @returns {ForbiddenFeature[]} features that are off; none without a permission model
 */
function forbiddenFeatures({ options, isOfFleet }) {
  if (process.permission === undefined) return []
  const { file } = options.release
  const features = { ...FEATURES }
  const { hangReport } = options.insight
  if (hangReport !== undefined) features['hang-report'] = filesIn(hangReport)
  if (file !== undefined) features.releases = filesIn(path.dirname(file))
  if (isOfFleet) features.fleet = filesIn(/** @type {FleetOptions} */ (options.fleet)?.directory ?? tmpdir())
  return Object.entries(features)
    .map(([feature, needs]) => ({ feature, grants: missingGrants(needs) }))
    .filter(({ grants }) => grants.length > 0)
}

/** Whether this Node has the flag at all. @param {string} grant */
const isKnown = (grant) => process.allowedNodeEnvironmentFlags.has(grant.split('=')[0])

/** @param {readonly string[]} grants @returns {string} the flags in a sentence */
function grantsText(grants) {
  const unknown = grants.filter((grant) => !isKnown(grant))
  const hint = unknown.length === 0 ? '' : `, but this Node has no ${unknown.join(' ')}`
  return `${grants.join(' ')}${hint}`
}

/** @param {ForbiddenFeature[]} forbidden at least one */
function forbiddenText(forbidden) {
  /** @type {Map<string, string[]>} */
  const byGrants = new Map()
  for (const { feature, grants } of forbidden) {
    const text = grantsText(grants)
    byGrants.set(text, [...(byGrants.get(text) ?? []), feature])
  }
  const parts = [...byGrants].map(([grants, features]) => `${features.join(' and ')} (${grants})`)
  return `Node's permission model turns off ${parts.join('; ')}`
}

/**
 * Writes one log line, when a server listens: which features are off, and which flags would turn them on.
 *
 * @param {(fields: object, message: string) => void} info
 * @param {Parameters<typeof forbiddenFeatures>[0]} deps
 */
function writeForbidden(info, deps) {
  const forbidden = forbiddenFeatures(deps)
  if (forbidden.length > 0) info({ event: 'restricted', forbidden }, `spillway: ${forbiddenText(forbidden)}`)
}

module.exports = { forbiddenFeatures, grantsText, missingFor, writeForbidden }

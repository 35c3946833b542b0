'use strict'
// Files of this package that are run or read by their name: threads, style sheets, the live page. A bundler
// packs only files that are required, so it leaves these files out. A bundle finds them in the installed
// package, if that package has the same version.

const { existsSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { SpillwayError } = require('./errors/errors')
const { VERSION } = require('./version')

/** A bundle as an ES module has no `__filename`. */
const OWN_PATH = typeof __filename === 'string' ? __filename : ''
const isBundled = !OWN_PATH.endsWith(join('src', 'core', 'own-files.js'))
/** The folder `src/`, or undefined in a bundle. */
const OWN_FOLDER = isBundled ? undefined : dirname(dirname(OWN_PATH))

/** Folders of installed packages of this version. @type {string[] | undefined} */
let installed

/**
 * @param {string} name with slashes, from src/
 * @returns {string} its path
 * @throws {SpillwayError} if a bundler has left it out
 */
function ownFile(name) {
  // Node's permission model may hide files that are there.
  if (OWN_FOLDER !== undefined && (process.permission !== undefined || existsSync(join(OWN_FOLDER, name))))
    return join(OWN_FOLDER, name)
  installed ??= [...findInstalled()]
  const folder = installed.find((each) => existsSync(join(each, name)))
  if (folder !== undefined) return join(folder, name)
  throw new SpillwayError(
    'ERR_SPILLWAY_MISSING_FILE',
    `The file node_modules/spillway/src/${name} is missing, as in a bundle. Install spillway ${VERSION} where the bundle runs, or exclude spillway from the bundle.`
  )
}

/** Finds the package as the bundle, the main module and the working directory would find it. */
function* findInstalled() {
  for (const from of [OWN_PATH, process.argv[1] ?? '', undefined]) {
    if (from === '') continue
    try {
      // The working directory may have been removed.
      const file = createRequire(from ?? join(process.cwd(), 'bundle.js')).resolve('spillway/package.json')
      const { version } = createRequire(file)('./package.json')
      if (version === VERSION) yield join(dirname(file), 'src')
    } catch {
      // Not installed there.
    }
  }
}

module.exports = { OWN_FOLDER, ownFile }

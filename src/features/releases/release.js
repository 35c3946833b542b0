'use strict'
// Determines the release of this process: from the options, else from npm, else from variables of platforms and CI systems. Values
// become labels, so their length is limited.

const MAX_LENGTH = 128

/** npm sets the version of the application whose script it runs. */
const VERSION_VARIABLES = ['npm_package_version', 'HEROKU_RELEASE_VERSION', 'K_REVISION']
/** Variables of the platform that runs the process come first, then of those that build it. */
const REVISION_VARIABLES = [
  'HEROKU_SLUG_COMMIT',
  'HEROKU_BUILD_COMMIT',
  'RENDER_GIT_COMMIT',
  'VERCEL_GIT_COMMIT_SHA',
  'RAILWAY_GIT_COMMIT_SHA',
  'SOURCE_VERSION',
  'SOURCE_COMMIT',
  'GITHUB_SHA',
  'CI_COMMIT_SHA',
  'BITBUCKET_COMMIT',
  'CIRCLE_SHA1',
  'BUILDKITE_COMMIT',
  'DRONE_COMMIT_SHA',
  'TRAVIS_COMMIT',
  'BUILD_SOURCEVERSION',
  'CODEBUILD_RESOLVED_SOURCE_VERSION',
  'GIT_COMMIT',
  'GIT_SHA',
]

/** @typedef {{ version: string, revision: string }} Release empty if unknown */

/**
 * @param {{ version: string | undefined, revision: string | undefined }} given
 * @param {Record<string, string | undefined>} [environment]
 * @returns {Release}
 */
function releaseOf({ version, revision }, environment = process.env) {
  /** @param {string[]} names */
  const first = (names) => names.map((name) => environment[name]?.trim()).find(Boolean) ?? ''
  return Object.freeze({
    version: (version ?? first(VERSION_VARIABLES)).slice(0, MAX_LENGTH),
    revision: (revision ?? first(REVISION_VARIABLES)).slice(0, MAX_LENGTH),
  })
}

/** @param {Release} one @param {Release} other */
const isSameRelease = (one, other) => one.version === other.version && one.revision === other.revision

module.exports = { isSameRelease, releaseOf }

'use strict'
// Which release this process is: what the options say, else npm, else what the platforms and CI systems leave in the
// environment. A value becomes a label, so it is bounded.

const LONGEST = 128

/** npm's is of the application whose script it runs. */
const VERSION_VARIABLES = ['npm_package_version', 'HEROKU_RELEASE_VERSION', 'K_REVISION']
/** Of platforms a process runs on first, then of those that build it and may hand theirs down. */
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

/**
 * @param {{ version: string | undefined, revision: string | undefined }} given
 * @param {Record<string, string | undefined>} [environment]
 * @returns {{ version: string, revision: string }} empty where nothing tells
 */
function releaseOf({ version, revision }, environment = process.env) {
  const first = (names) => names.map((name) => environment[name]?.trim()).find(Boolean) ?? ''
  return Object.freeze({
    version: (version ?? first(VERSION_VARIABLES)).slice(0, LONGEST),
    revision: (revision ?? first(REVISION_VARIABLES)).slice(0, LONGEST),
  })
}

const isSameRelease = (one, other) => one.version === other.version && one.revision === other.revision

module.exports = { isSameRelease, releaseOf }

'use strict'
// The database, the load of the story, what is compared, and what Spillway has to say. During two of the
// releases a profile is taken, as by `npx spillway profile`.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: delay } = require('node:timers/promises')
const { Client } = require('pg')
const { hasPostgres, startPostgres } = require('../../../bench/healthy/postgres')
const { ARTILLERY_FLAG, artilleryLoad, artilleryMissing } = require('../frame/artillery')
const { farAway } = require('../frame/distance')
const { takeProfile } = require('../frame/profile')

/** Distance to the database, as between two regions of a cloud. */
const ROUND_TRIP_MS = 40
const CONNECT_MS = 5000
const PROFILE_SECONDS = 3
const SHORT_PROFILE_SECONDS = 1
/** Time until the users of the rush have logged in: in a full run, and in a short one. */
const RUSH_SECONDS = 5
const SHORT_RUSH_SECONDS = 3
const DRIVER = /^(pg|pg-.*|postgres-(array|bytea|date|interval))$/
const LOGGER = /^morgan$/
const MAX_PACKAGES = 4

const percent = (share) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`

/** Whether a run has a pool that is large enough. */
const isHealthy = ({ name }) => name === '1.1.0' || name === '1.2.0'

const RUNS = [
  {
    name: '1.0.0',
    what: 'a pool of 5 connections',
    args: ['--release', '1.0.0'],
    isTold: ({ watch }) => watch.found.has('pool-exhausted'),
  },
  {
    name: 'rejects',
    what: 'the same, and Spillway rejects what would wait too long',
    args: ['--release', '1.0.0'],
    env: { SHED: 'adaptive' },
    isTold: ({ watch }) => watch.snapshot?.admission.shed['pool:db'] > 0,
  },
  {
    name: '1.1.0',
    what: 'a pool of 50 connections',
    args: ['--release', '1.1.0'],
    isTold: ({ extra }) => extra !== undefined,
  },
  {
    name: '1.2.0',
    what: 'fewer columns, no line for each request',
    args: ['--release', '1.2.0'],
    isTold: ({ extra }) => extra !== undefined,
  },
]

module.exports = {
  title: 'Accounts behind five connections',
  summary: 'a connection pool too small: all wait, and nothing is busy',
  intro:
    `Users sign up, log in, and look at their profile again and again, which takes three queries. The database is ${ROUND_TRIP_MS} ms away. ` +
    'It is Postgres, and idle. The CPU is idle too, and yet everybody waits. The team deploys two releases against it.',
  runs: RUNS,
  shortRuns: RUNS.filter(({ name }) => name !== 'rejects'),
  load: { script: path.join(__dirname, 'users.js') },
  flags: { ...ARTILLERY_FLAG, postgres: { type: 'string' }, distance: { type: 'string' } },
  wrong,
  missing: ({ artillery, postgres }) =>
    artilleryMissing({ artillery }) ??
    (postgres === undefined && !hasPostgres()
      ? [
          'This story needs a Postgres, and found none. One of these:',
          '  npm ci --prefix examples/stories/auth/postgres      its programs from npm, 60 MB',
          '  apt-get install postgresql                          those of Debian',
          '  docker compose -f examples/stories/auth/compose.yml up --wait',
          '  npm run story auth -- --postgres postgres://story:story@127.0.0.1:5433/story',
        ].join('\n')
      : undefined),
  setUp,
  async meanwhile({ watch, run, short }) {
    if (!isHealthy(run)) return undefined
    await delay((short ? SHORT_RUSH_SECONDS : RUSH_SECONDS) * 1000)
    const profile = await takeProfile(watch, 'profile', short ? SHORT_PROFILE_SECONDS : PROFILE_SECONDS)
    const { pools, releases } = await watch.get('/snapshot')
    return {
      packages: profile.packages,
      releases,
      said: { pool: poolText(pools[0]), profile: profileText(profile), releases: releaseText(releases) },
    }
  },
  learn: [
    'The database is idle, and so is the CPU: the time is spent in a queue inside the process, which neither of them shows. A pool that is ' +
      'given to spillway.pool() says how long callers wait, and which route holds its connections.',
    "A pool needs as many connections as are in use at a time: queries a second x seconds of a query (Little's law), and some to spare. " +
      'Clients that are answered sooner come back sooner, so look again after the change. The database has a limit for all processes together.',
    'As long as a pool is too small, Spillway rejects what would wait too long, so that the others are answered in time.',
    'A profile by package shows what libraries cost, as shares of the time in which the loop is busy. Spillway is one of them: it measures ' +
      'each request and each turn of the loop, and a loop that idles has many turns for few requests. `select *` makes the driver decode columns that nobody reads.',
  ],
  picture: {
    title: 'Time of GET /profile while users arrive',
    panels: [
      { title: 'median time of GET /profile, ms', part: 'GET /profile', figure: 'p50Ms' },
      { title: 'answers of GET /profile a second', part: 'GET /profile', figure: 'perSecond' },
    ],
  },
}

const shareOf = (packages, pattern) =>
  packages.filter(({ name }) => pattern.test(name)).reduce((sum, { selfShare }) => sum + selfShare, 0)

const poolText = ({ max, name, use, used, waiting }) =>
  `${used} of the ${max} connections of '${name}' are in use, for ${Math.round(use.lastMinute.meanMs)} ms on average, and ${waiting} callers wait`

function profileText({ busyMs, durationMs, packages }) {
  const first = packages.slice(0, MAX_PACKAGES).map(({ name, selfShare }) => `${name} ${percent(selfShare)}`)
  const [driver, logger] = [DRIVER, LOGGER].map((pattern) => percent(shareOf(packages, pattern)))
  return `the loop is busy for ${percent(busyMs / durationMs)} of the time. Of that, by package: ${first.join(', ')}. The driver, which is pg and its packages, takes ${driver} in all, the logger (morgan) ${logger}.`
}

/** What the live page shows as "this release" and "the one before". */
function releaseText({ current, previous, routes }) {
  const profile = routes.find(({ method, route }) => method === 'GET' && route === '/profile')
  if (previous === null || !profile?.previous) return `no release before ${current.version}`
  const [now, before] = [profile.current, profile.previous].map(({ p99Ms }) => `${Math.round(p99Ms)} ms`)
  return `p99 of GET /profile is ${now} in ${current.version}, and was ${before} in ${previous.version}. A graph marks the deploy: spillway_build_info{version="${current.version}"}`
}

/** @returns {string | undefined} */
function wrong({ postgres, distance }) {
  if (distance !== undefined && !/^\d+(\.\d+)?$/.test(distance))
    return `--distance must be milliseconds: got '${distance}'.`
  if (
    postgres !== undefined &&
    !/^postgres(ql)?:$/.test(URL.canParse(postgres) ? new URL(postgres).protocol : '')
  )
    return '--postgres must be a URL: postgres://user:password@host:5432/database.'
}

/** Says in one sentence what the application would say in a stack trace. */
async function assertReachable(url) {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS })
  try {
    await client.connect()
  } catch (error) {
    const { host } = new URL(url)
    // Where a name has several addresses, each has an error, and all of them together have no message.
    throw new Error(`No connection to the Postgres at ${host}: ${error.message || error.code}.`)
  } finally {
    await client.end().catch(() => {})
  }
}

async function setUp({ artillery, postgres, distance }) {
  const roundTripMs = Number(distance ?? (postgres === undefined ? ROUND_TRIP_MS : 0))
  if (postgres !== undefined) await assertReachable(postgres)
  const own = postgres === undefined ? await startPostgres() : undefined
  const url = postgres ?? own?.url
  if (url === undefined) throw new Error('Postgres did not start.')
  const proxy = roundTripMs > 0 ? await farAway(new URL(url), roundTripMs) : undefined
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-story-'))
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  return {
    load: artillery ? artilleryLoad(__dirname) : {},
    env: { DATABASE_URL: proxy?.url ?? url, RELEASES: path.join(folder, 'releases.json') },
    async end() {
      proxy?.end()
      await own?.stop()
    },
  }
}

'use strict'
// The pool of connections behind the route /pool: connections of `pg` to a real Postgres, or a stand-in in
// the process. A query takes 10 ms in both, and at most `size` queries run at a time.

const { setTimeout: delay } = require('node:timers/promises')
const { peer } = require('../support/peers')

const QUERY_MS = 10

class StandInPool {
  #free
  #waiting = []

  constructor(size) {
    this.#free = size
  }

  async query() {
    if (this.#free > 0) this.#free--
    else await new Promise((resolve) => this.#waiting.push(resolve))
    await delay(QUERY_MS)
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
    return { ok: true }
  }
}

class PostgresPool {
  #pool

  constructor(size, url) {
    const { Pool } = peer('pg')
    this.#pool = new Pool({ connectionString: url, max: size })
    // Postgres may stop before this process does. An error of an idle connection would end the process.
    this.#pool.on('error', () => {})
  }

  async query() {
    await this.#pool.query(`select pg_sleep(${QUERY_MS / 1000})`)
    return { ok: true }
  }
}

/** @param {{ size: number, url?: string }} options */
const createPool = ({ size, url }) =>
  url === undefined ? new StandInPool(size) : new PostgresPool(size, url)

module.exports = { createPool }

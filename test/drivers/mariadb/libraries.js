// How each library is opened on a MariaDB: what is given to `spillway.pool()`, how a query runs, and how it ends.
// A `query` holds a connection for a while, and `fail` is a query that the server refuses.

const { SIZE, QUERY_SECONDS } = require('../loaded-service')

/** A row of a table, so that `queries: true` has a name for it. */
const SLEEP = `select id from orders where sleep(${QUERY_SECONDS}) = 0`
const WRONG = 'select no_column from orders'

/**
 * @typedef {{ pool: object, query: () => PromiseLike<unknown>, fail: () => PromiseLike<unknown>,
 *   close: () => PromiseLike<unknown> }} Opened
 * @typedef {{ kind: string, open: (url: string) => Promise<Opened>, names?: boolean }} Library
 *   `names`: whether its queries are seen by `queries: true`
 */

/** @type {Record<string, Library>} */
const LIBRARIES = {
  'mysql2 with callbacks': {
    kind: 'mysql2',
    names: true,
    async open(url) {
      const pool = require('mysql2').createPool({ uri: url, connectionLimit: SIZE })
      const ask = (sql) =>
        new Promise((resolve, reject) =>
          pool.query(sql, (error, rows) => (error ? reject(error) : resolve(rows)))
        )
      return {
        pool,
        query: () => ask(SLEEP),
        fail: () => ask(WRONG),
        close: () => pool.promise().end(),
      }
    },
  },

  'mysql2 with promises': {
    kind: 'mysql2',
    names: true,
    async open(url) {
      const pool = require('mysql2/promise').createPool({ uri: url, connectionLimit: SIZE })
      return {
        pool,
        query: () => pool.execute(SLEEP),
        fail: () => pool.execute(WRONG),
        close: () => pool.end(),
      }
    },
  },

  'Sequelize 6 over mysql2': {
    kind: 'sequelize',
    async open(url) {
      const { Sequelize } = require('sequelize')
      const pool = { max: SIZE, min: 0 }
      const sequelize = new Sequelize(url, { dialect: 'mysql', logging: false, pool })
      return {
        pool: sequelize,
        query: () => sequelize.query(SLEEP),
        fail: () => sequelize.query(WRONG),
        close: () => sequelize.close(),
      }
    },
  },

  'TypeORM over mysql2': {
    kind: 'mysql2',
    names: true,
    async open(url) {
      const { DataSource } = require('typeorm')
      const source = await new DataSource({ type: 'mariadb', url, poolSize: SIZE }).initialize()
      return {
        pool: source,
        query: () => source.query(SLEEP),
        fail: () => source.query(WRONG),
        close: () => source.destroy(),
      }
    },
  },

  'Drizzle over mysql2': {
    kind: 'mysql2',
    names: true,
    async open(url) {
      const { drizzle } = require('drizzle-orm/mysql2')
      const pool = require('mysql2/promise').createPool({ uri: url, connectionLimit: SIZE })
      const db = drizzle(pool)
      return {
        pool: db,
        query: () => db.execute(SLEEP),
        fail: () => db.execute(WRONG),
        close: () => pool.end(),
      }
    },
  },

  'knex over mysql2': {
    kind: 'tarn',
    async open(url) {
      const knex = require('knex')({ client: 'mysql2', connection: url, pool: { min: 0, max: SIZE } })
      return {
        pool: knex,
        query: () => knex.raw(SLEEP).then(),
        fail: () => knex.raw(WRONG).then(),
        close: () => knex.destroy(),
      }
    },
  },
}

module.exports = { LIBRARIES, SLEEP, WRONG }

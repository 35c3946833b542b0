// How each library is opened on a Postgres: what is given to `spillway.pool()`, how a query runs, and how it
// ends. A `query` holds a connection for a while, and `fail` is a query that the server refuses.

const { SIZE, QUERY_SECONDS } = require('../loaded-service')

const SLEEP = `select pg_sleep(${QUERY_SECONDS})`
const WRONG = 'select no_column'
const pgOptions = (url) => ({ connectionString: url, max: SIZE })

/**
 * @typedef {{ pool: object, query: () => PromiseLike<unknown>, fail: () => PromiseLike<unknown>,
 *   close: () => PromiseLike<unknown> }} Opened
 * @typedef {{ kind: string, open: (url: string) => Promise<Opened> }} Library
 */

/** @type {Record<string, Library>} */
const LIBRARIES = {
  'Prisma 7': {
    kind: 'pg',
    async open(url) {
      const { Pool } = require('pg')
      const { PrismaPg } = require('@prisma/adapter-pg')
      const { PrismaClient } = require('./prisma-client')
      const pool = new Pool(pgOptions(url))
      const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })
      await prisma.order.findMany()
      return {
        pool,
        query: () => prisma.$queryRawUnsafe(`select 1 as one from pg_sleep(${QUERY_SECONDS})`),
        fail: () => prisma.$queryRawUnsafe(WRONG),
        close: () => prisma.$disconnect().then(() => pool.end()),
      }
    },
  },

  'Sequelize 6': {
    kind: 'sequelize',
    async open(url) {
      const { Sequelize } = require('sequelize')
      const sequelize = new Sequelize(url, { logging: false, pool: { max: SIZE, min: 0 } })
      return {
        pool: sequelize,
        query: () => sequelize.query(SLEEP),
        fail: () => sequelize.query(WRONG),
        close: () => sequelize.close(),
      }
    },
  },

  TypeORM: {
    kind: 'pg',
    async open(url) {
      const { DataSource } = require('typeorm')
      const source = await new DataSource({ type: 'postgres', url, poolSize: SIZE }).initialize()
      return {
        pool: source,
        query: () => source.query(SLEEP),
        fail: () => source.query(WRONG),
        close: () => source.destroy(),
      }
    },
  },

  'Drizzle with pg': {
    kind: 'pg',
    async open(url) {
      const { Pool } = require('pg')
      const { drizzle } = require('drizzle-orm/node-postgres')
      const pool = new Pool(pgOptions(url))
      const db = drizzle(pool)
      return {
        pool: db,
        query: () => db.execute(SLEEP),
        fail: () => db.execute(WRONG),
        close: () => pool.end(),
      }
    },
  },

  'MikroORM 7': {
    kind: 'pg',
    async open(url) {
      const { MikroORM } = await import('@mikro-orm/postgresql')
      const orm = await MikroORM.init({
        clientUrl: url,
        entities: [],
        discovery: { warnWhenNoEntities: false },
        pool: { max: SIZE },
      })
      const connection = orm.em.getConnection()
      return {
        pool: await connection.getNativeClient(),
        query: () => connection.execute(SLEEP),
        fail: () => connection.execute(WRONG),
        close: () => orm.close(true),
      }
    },
  },

  'knex, as MikroORM 6 has it': {
    kind: 'tarn',
    async open(url) {
      const knex = require('knex')({ client: 'pg', connection: url, pool: { min: 0, max: SIZE } })
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

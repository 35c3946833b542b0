// How each library is opened on a Postgres and on a MariaDB.

const { promisify } = require('node:util')
const { SIZE } = require('../support/loaded-service')

/** @typedef {Record<string, import('../support/libraries').Library>} Libraries */

/** @param {{ driver: string, type: any }} names of the database in knex and in TypeORM @returns {Libraries} */
const onBoth = ({ driver, type }) => ({
  [`Sequelize 6 over ${driver}`]: {
    kind: 'sequelize',
    async open(url) {
      const { Sequelize } = require('sequelize')
      const sequelize = new Sequelize(url, { logging: false, pool: { max: SIZE, min: 0 } })
      return { pool: sequelize, ask: (sql) => sequelize.query(sql), close: () => sequelize.close() }
    },
  },

  [`TypeORM over ${driver}`]: {
    kind: driver,
    table: 'orders',
    async open(url) {
      const { DataSource } = require('typeorm')
      const source = await new DataSource({ type, url, poolSize: SIZE }).initialize()
      return { pool: source, ask: (sql) => source.query(sql), close: () => source.destroy() }
    },
  },

  // MikroORM 6 has it too.
  [`knex over ${driver}`]: {
    kind: 'tarn',
    async open(url) {
      const knex = require('knex')({ client: driver, connection: url, pool: { min: 0, max: SIZE } })
      return { pool: knex, ask: (sql) => knex.raw(sql).then(), close: () => knex.destroy() }
    },
  },
})

/** @param {string} url */
const pgPool = (url) => new (require('pg').Pool)({ connectionString: url, max: SIZE })

/** @type {Libraries} */
const POSTGRES = {
  ...onBoth({ driver: 'pg', type: 'postgres' }),

  'Prisma 7': {
    kind: 'pg',
    table: 'orders',
    async open(url) {
      const { PrismaPg } = require('@prisma/adapter-pg')
      const { PrismaClient } = require('./prisma-client')
      const pool = pgPool(url)
      const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })
      await prisma.order.findMany()
      return {
        pool,
        ask: (sql) => prisma.$queryRawUnsafe(sql),
        close: () => prisma.$disconnect().then(() => pool.end()),
      }
    },
  },

  'Drizzle over pg': {
    kind: 'pg',
    table: 'orders',
    async open(url) {
      const { drizzle } = require('drizzle-orm/node-postgres')
      const pool = pgPool(url)
      const db = drizzle(pool)
      return { pool: db, ask: (sql) => db.execute(sql), close: () => pool.end() }
    },
  },

  'MikroORM 7': {
    kind: 'pg',
    table: 'orders',
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
        ask: (sql) => connection.execute(sql),
        close: () => orm.close(true),
      }
    },
  },
}

/** @param {string} url */
const mysql2Pool = (url) => require('mysql2/promise').createPool({ uri: url, connectionLimit: SIZE })

/** @type {Libraries} */
const MARIADB = {
  ...onBoth({ driver: 'mysql2', type: 'mariadb' }),

  'mysql2 with callbacks': {
    kind: 'mysql2',
    table: 'orders',
    async open(url) {
      const pool = require('mysql2').createPool({ uri: url, connectionLimit: SIZE })
      const query = promisify(pool.query).bind(pool)
      return { pool, ask: (sql) => query(sql), close: () => pool.promise().end() }
    },
  },

  'mysql2 with promises': {
    kind: 'mysql2',
    table: 'orders',
    async open(url) {
      const pool = mysql2Pool(url)
      return { pool, ask: (sql) => pool.execute(sql), close: () => pool.end() }
    },
  },

  'Drizzle over mysql2': {
    kind: 'mysql2',
    table: 'orders',
    async open(url) {
      const { drizzle } = require('drizzle-orm/mysql2')
      const pool = mysql2Pool(url)
      const db = drizzle(pool)
      return { pool: db, ask: (sql) => db.execute(sql), close: () => pool.end() }
    },
  },
}

module.exports = { MARIADB, POSTGRES, mysql2Pool }

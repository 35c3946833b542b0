'use strict'
// The orders of a shop in Postgres. A query of them waits for the disk, simulated by pg_sleep(). `slowness`
// has the mean wait, and `pace` the factor of each user. The seed is always the same.

const USERS = 60
const ORDERS = 60
/** Milliseconds until the disk answers: usually, and while the disk is slow. */
const USUAL_MS = 15
const SLOW_MS = 350

const TABLES = `
drop schema if exists spillway_deadline cascade;
create schema spillway_deadline;
set search_path to spillway_deadline;
select setseed(0.46);
create table slowness (ms float not null);
insert into slowness values (${USUAL_MS});
create table users (id int primary key, pace float not null);
insert into users select n, 0.5 + random() from generate_series(1, ${USERS}) n;
create table orders (id serial primary key, user_id int not null, product text not null, pieces int not null, pence int not null, at date not null);
insert into orders (user_id, product, pieces, pence, at)
  select n, 'product ' || (m % 20), 1 + m % 5, (100 + random() * 9900)::int, date '2026-01-01' + m
  from generate_series(1, ${USERS}) n, generate_series(1, ${ORDERS}) m;
create index on orders (user_id);
create function orders_of(asked int) returns table (product text, pieces int, pence int, at date) language plpgsql as $$
begin
  perform pg_sleep((select ms * pace / 1000 from spillway_deadline.slowness, spillway_deadline.users u where u.id = asked));
  return query select o.product, o.pieces, o.pence, o.at from spillway_deadline.orders o where o.user_id = asked;
end $$;`

const ORDERS_OF = 'select * from spillway_deadline.orders_of($1)'

/** @param {import('pg').Client} client */
const createTables = (client) => client.query(TABLES)

/** @param {import('pg').Client} client @param {boolean} isSlow */
const setSlow = (client, isSlow) =>
  client.query('update spillway_deadline.slowness set ms = $1', [isSlow ? SLOW_MS : USUAL_MS])

/**
 * Runs a query on a connection of the pool. When the signal aborts, a query that waits for a connection never
 * starts. A running one is cancelled in the database, over a connection of its own.
 * @param {{ pool: import('pg').Pool, canceller: import('pg').Pool }} pools
 * @param {{ text: string, values: unknown[] }} query
 * @param {AbortSignal} [signal]
 * @param {<T>(work: () => Promise<T>) => Promise<T>} [measured] what runs on the connection
 */
async function ask({ pool, canceller }, query, signal, measured = (work) => work()) {
  const client = await pool.connect()
  let cancelling
  const cancel = () => {
    cancelling = canceller.query('select pg_cancel_backend($1)', [client.processID]).catch(() => {})
  }
  try {
    signal?.throwIfAborted()
    signal?.addEventListener('abort', cancel)
    return await measured(() => client.query(query))
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', cancel)
    // Until it is sent: it would cancel the next query of this connection.
    await cancelling
    client.release()
  }
}

module.exports = { ORDERS_OF, USERS, ask, createTables, setSlow }

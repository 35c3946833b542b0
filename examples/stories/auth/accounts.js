'use strict'
// What the service asks of the database: accounts, the sessions of their log-ins, and what each wants to be
// told of, by which channel.

const { randomBytes, scrypt, timingSafeEqual } = require('node:crypto')
const { promisify } = require('node:util')

const HASH_BYTES = 64
const TOPICS = 60
const UNIQUE_VIOLATION = '23505'
const hashOf = promisify(scrypt)

const TABLES = `
create schema if not exists spillway_story;
create table if not exists spillway_story.accounts (
  id bigint generated always as identity primary key, email text unique not null, name text not null,
  salt bytea not null, hash bytea not null, created_at timestamptz not null default now());
create table if not exists spillway_story.sessions (
  token text primary key, account_id bigint not null, created_at timestamptz not null default now());
create table if not exists spillway_story.preferences (
  account_id bigint not null, topic text not null, channel text not null, is_enabled boolean not null, options jsonb not null,
  created_at timestamptz not null default now(), changed_at timestamptz not null default now(), primary key (account_id, topic));`

/** @param {import('pg').Pool} pool */
const createTables = (pool) => pool.query(TABLES)

class Accounts {
  #pool
  #isLean

  /** @param {import('pg').Pool} pool @param {{ isLean: boolean }} options */
  constructor(pool, { isLean }) {
    this.#pool = pool
    this.#isLean = isLean
  }

  async add({ email, name, password }) {
    const salt = randomBytes(16)
    const hash = await hashOf(password, salt, HASH_BYTES)
    try {
      const { rows } = await this.#pool.query(
        `with account as (
           insert into spillway_story.accounts (email, name, salt, hash) values ($1, $2, $3, $4) returning id),
         preferences as (
           insert into spillway_story.preferences (account_id, topic, channel, is_enabled, options)
           select id, 'topic ' || n, 'email', n % 8 = 0, '{"digest": "weekly", "quiet": [22, 7]}'
           from account, generate_series(1, ${TOPICS}) n)
         select id from account`,
        [email, name, salt, hash]
      )
      return rows[0]
    } catch (error) {
      if (error.code === UNIQUE_VIOLATION) return undefined
      throw error
    }
  }

  /** @returns {Promise<string | undefined>} a token, if the password is right */
  async logIn({ email, password }) {
    const { rows } = await this.#pool.query(
      'select id, salt, hash from spillway_story.accounts where email = $1',
      [email]
    )
    if (rows.length === 0) return undefined
    const [{ id, salt, hash }] = rows
    if (!timingSafeEqual(hash, await hashOf(password, salt, HASH_BYTES))) return undefined
    const token = randomBytes(24).toString('hex')
    await this.#pool.query('insert into spillway_story.sessions (token, account_id) values ($1, $2)', [
      token,
      id,
    ])
    return token
  }

  async idOf(token) {
    const { rows } = await this.#pool.query(
      'select account_id as id from spillway_story.sessions where token = $1',
      [token]
    )
    return rows[0]?.id
  }

  async profileOf(id) {
    const [account, topics] = this.#isLean
      ? [await this.#ask('email, name', 'accounts where id = $1', id), await this.#topicsOf(id)]
      : [await this.#ask('*', 'accounts where id = $1', id), await this.#allTopicsOf(id)]
    const [{ email, name }] = account
    return { email, name, topics }
  }

  /** Every column of every topic comes over the wire, and the driver makes dates and objects of them. */
  async #allTopicsOf(id) {
    const preferences = await this.#ask('*', 'preferences where account_id = $1', id)
    return preferences.filter((each) => each.is_enabled).map(({ topic }) => topic)
  }

  async #topicsOf(id) {
    const preferences = await this.#ask('topic', 'preferences where account_id = $1 and is_enabled', id)
    return preferences.map(({ topic }) => topic)
  }

  async #ask(columns, from, id) {
    const { rows } = await this.#pool.query(`select ${columns} from spillway_story.${from}`, [id])
    return rows
  }

  async rename(id, name) {
    await this.#pool.query('update spillway_story.accounts set name = $2 where id = $1', [id, name])
  }
}

module.exports = { Accounts, createTables }

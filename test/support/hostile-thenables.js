'use strict'
// What looks like a promise, and throws or rejects when it is taken for one.

const MISTAKE = 'a mistake of the user'

const fail = () => {
  throw new Error(MISTAKE)
}

function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

/** @type {Record<string, () => any>} each makes one */
const HOSTILE_THENABLES = {
  'a `then` that throws when it is read': () => Object.defineProperty({}, 'then', { get: fail }),
  // biome-ignore lint/suspicious/noThenProperty: a user's may have it
  'a `then` that throws when it is called': () => ({ then: fail }),
  // biome-ignore lint/suspicious/noThenProperty: a user's may have it
  'a `then` that is async, and rejects': () => ({ then: async () => fail() }),
  'a revoked Proxy': revoked,
}

module.exports = { HOSTILE_THENABLES }

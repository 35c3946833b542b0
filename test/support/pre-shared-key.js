'use strict'
// TLS by a pre-shared key, which needs no certificate.

const KEY = Buffer.alloc(32, 1)
const SERVER = { ciphers: 'PSK', pskCallback: () => KEY }
const CLIENT = {
  ciphers: 'PSK',
  pskCallback: () => ({ psk: KEY, identity: 'test' }),
  checkServerIdentity: () => undefined,
}

module.exports = { CLIENT, SERVER }

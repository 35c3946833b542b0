'use strict'
// A client for the pool of pg that connects to nothing, and answers after a while.

const { EventEmitter } = require('node:events')

const CONNECT_MS = 5
const QUERY_MS = 8

class Client extends EventEmitter {
  connect(done) {
    setTimeout(done, CONNECT_MS)
  }

  query(...args) {
    const done = args.findLast((each) => typeof each === 'function')
    setTimeout(() => done(null, { rows: [{ n: 1 }], rowCount: 1 }), QUERY_MS)
  }

  end(done) {
    done?.()
  }
}

module.exports = Client

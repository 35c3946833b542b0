'use strict'
// A client for the real Pool of pg, which connects at once and to nothing: what is tested is the pool.

const { EventEmitter } = require('node:events')

class FakeClient extends EventEmitter {
  _queryable = true
  _ending = false

  isConnected() {
    return true
  }

  connect(done) {
    setImmediate(done)
  }

  query(text, values, done) {
    const callback = typeof values === 'function' ? values : done
    setImmediate(callback, text === 'fail' ? new Error('failed') : undefined, { rows: [] })
  }

  end(done) {
    this._ending = true
    setImmediate(() => {
      this.emit('end')
      done?.()
    })
  }
}

/** The options of a pool of pg without a database. @param {object} [options] */
const withoutDatabase = (options) => /** @type {any} */ ({ max: 2, Client: FakeClient, ...options })

module.exports = { FakeClient, withoutDatabase }

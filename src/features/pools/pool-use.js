'use strict'
// One use of a connection, from the moment a caller asks for it until it is given back. pool-record.js makes one for each ask,
// and counts it when it ends.

/** @import { Asker } from './visits' */

class PoolUse {
  isAnswered = false
  grantedMs = 0
  grantedStallFreeMs = 0
  othersHeld = 0

  /** @param {number} askedAtMs @param {Asker | undefined} asker the reference of the request that asked, if known */
  constructor(askedAtMs, asker) {
    this.askedAtMs = askedAtMs
    this.asker = asker
  }
}

exports.PoolUse = PoolUse

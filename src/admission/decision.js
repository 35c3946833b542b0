'use strict'
// What the gate can make of a request: run it now, let it wait until its `resume` is called, or have it answered already.

const RUN = 0
const QUEUED = 1
const REJECTED = 2

/** Reasons to reject that no rule of ours overrules: what a user has said cannot be wrong. */
const FINAL = Object.freeze(['concurrency', 'deadline', 'closed'])

module.exports = { FINAL, QUEUED, REJECTED, RUN }

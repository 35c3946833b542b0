'use strict'
// The limit of a feature that bounds how long a request may be queued, and nothing else.

const nothing = () => {}

/** @param {(req: any) => number | undefined} deadlineOf undefined: no bound */
const deadlineLimit = (deadlineOf) => ({
  mayReject: true,
  reasonFor: nothing,
  reasonAfterQueue: nothing,
  maxWaitMs: ({ req }) => deadlineOf(req) ?? Number.POSITIVE_INFINITY,
})

module.exports = { deadlineLimit }

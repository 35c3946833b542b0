'use strict'
// The invariants without features, and a sample of them with features: all are in features.program.js.

const { testInvariants } = require('./invariants')

/** At least one of each invariant, at a load that is judged quickly. */
const SAMPLE = [
  'invariant 3: eight times the rejections of a limit',
  'invariant 4: in an overload the loop is no reason while it idles a tenth of its time: cpu',
  'invariant 5: a pool of 5 ',
  'invariant 6: observe says what adaptive does: bounds that nothing exceeds, await at 5 ',
  'invariant 6: observe says what adaptive does: a maxAge and a deadline of a second, cpu at 2 ',
  'invariant 6: observe says what adaptive does: a limit of 4, await at 1.2 ',
  'invariant 7: 150 clients that ask again at once are served as without a gate: 2 ms of CPU',
  'invariant 8: a reason names what is short: an age',
  'invariant 10: a burst of 500 ms of work is no overload: 5 ms each on kept connections, after',
  'invariant 11: rejections for a full limit take 0.34 of the loop at most, with 8000',
]

testInvariants()
testInvariants({ hasFeatures: true, isChosen: (name) => SAMPLE.some((start) => name.startsWith(start)) })

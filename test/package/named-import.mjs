// Named imports are checked when a module is linked: this one loads only if Node finds the names in the
// CommonJS.

import { clusterPrimary, createSpillway, OverloadError, SpillwayError } from 'spillway'

export const imported = { clusterPrimary, createSpillway, OverloadError, SpillwayError }

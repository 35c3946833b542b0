// Named imports are checked when a module is linked: this one loads only if Node finds the names in the CommonJS.

import { createSpillway, OverloadError, SpillwayError } from 'spillway'

export const imported = { createSpillway, OverloadError, SpillwayError }

'use strict'
// Destroys a response, so that its client does not take what was sent for complete. The application may have
// replaced `destroy`, and timers call this: an error thrown here would end the process, or whatever the timer
// does. So the connection is destroyed instead.

const INTERNAL_ERROR = 2

/** @import { RoutedResponse } from '../route/route-state' */

/** @type {((res: RoutedResponse) => void)[]} in the order of trial */
const WAYS = [
  (res) => {
    if (typeof res.stream?.close === 'function') res.stream.close(INTERNAL_ERROR)
    else res.destroy()
  },
  (res) => res.socket?.destroy(),
]

/** @param {RoutedResponse} res a response of any kind */
function cutOff(res) {
  for (const cut of WAYS) {
    try {
      return cut(res)
    } catch {
      // The next way does without the application's function.
    }
  }
}

module.exports = { cutOff }

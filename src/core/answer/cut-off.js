'use strict'
// Destroys a response, so that its client sees that the response is incomplete. The application may have
// replaced `destroy` with a function that throws. Timers call this file, so an uncaught error would end the
// process. If `destroy` throws, the connection is destroyed.

const INTERNAL_ERROR = 2

/** @import { RoutedResponse } from '../route/route-state' */

/** @type {((res: RoutedResponse) => void)[]} tried in this order */
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
      // The next way does not call the application's function.
    }
  }
}

module.exports = { cutOff }

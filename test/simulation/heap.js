'use strict'
// A binary heap of events by time, and in order of arrival where times are equal.

const isBefore = (a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

class EventHeap {
  #events = []
  #order = 0

  get size() {
    return this.#events.length
  }

  /** The time of the earliest event. */
  get nextMs() {
    return this.#events.length === 0 ? Number.POSITIVE_INFINITY : this.#events[0].atMs
  }

  push(atMs, callback) {
    const event = { atMs, callback, order: this.#order++ }
    const events = this.#events
    let at = events.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(event, events[parent])) break
      events[at] = events[parent]
      at = parent
    }
    events[at] = event
    return event
  }

  pop() {
    const events = this.#events
    const first = events[0]
    const last = events.pop()
    if (events.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= events.length) break
      if (child + 1 < events.length && isBefore(events[child + 1], events[child])) child++
      if (!isBefore(events[child], last)) break
      events[at] = events[child]
      at = child
    }
    events[at] = last
    return first
  }
}

module.exports = { EventHeap }

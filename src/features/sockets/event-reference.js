'use strict'
// What async contexts, stalls and errors hold of a message: the name of its event, as they hold the route of a request. It has no data of a client,
// so that one serves all messages of its event, and a timer that keeps it keeps nothing.

/** In the place of a method. */
const METHOD = 'event'

class EventReference {
  method = METHOD
  /** There is no request. */
  request = undefined
  isEvent = true
  route

  /** @param {string} name */
  constructor(name) {
    this.route = name
  }

  /** The name among routes: of errors, for one. No route begins with a word and a space. */
  get label() {
    return `${METHOD} ${this.route}`
  }
}

exports.EventReference = EventReference

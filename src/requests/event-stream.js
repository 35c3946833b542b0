'use strict'
// Is this answer a stream of server-sent events? Told by its content type, which Node keeps in the rendered head alone
// where it was given to a plain `writeHead`.

const EVENT_STREAM = /^(content-type: *)?text\/event-stream *(;|$)/im

const isEventStream = (res) => EVENT_STREAM.test(String(res.getHeader('content-type') ?? res._header))

module.exports = { isEventStream }

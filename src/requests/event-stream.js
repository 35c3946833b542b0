'use strict'
// Whether a response is a stream of server-sent events, by its content type. For headers passed to a plain `writeHead`,
// Node keeps only the rendered head (`_header`).

const EVENT_STREAM = /^(content-type: *)?text\/event-stream *(;|$)/im

const isEventStream = (res) => EVENT_STREAM.test(String(res.getHeader('content-type') ?? res._header))

module.exports = { isEventStream }

'use strict'
// What a client may send that is not as it should be: bytes in pieces, by kind and chance. The same seed is
// the same bytes.

const BREAK = '\r\n'
const REPEATABLE = [
  'GET /ok',
  'GET /echo?value=a',
  'POST /json',
  'GET /never',
  'POST /upload',
  'HEAD /ok',
  'BREW /pot',
]
const CONTROLS = ['\0', '\r', '\n', '\r\n', '\x0b', '\x7f', '\xff', ' ', '\t', ':']
/** Frames of HTTP/2 as they should be: the first of a connection, and GET / on stream 1. */
const SETTINGS = '\0\0\0\x04\0\0\0\0\0'
const HEADERS = '\0\0\x06\x01\x05\0\0\0\x01\x82\x84\x86\x41\x01a'
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

/** Chance, with what a case is made of. */
class Dice {
  #random

  constructor(random) {
    this.#random = random
  }

  below(count) {
    return Math.floor(this.#random() * count)
  }

  of(list) {
    return list[this.below(list.length)]
  }

  is(chance) {
    return this.#random() < chance
  }

  bytes(most) {
    return Buffer.from(Array.from({ length: this.below(most) }, () => this.below(256))).toString('latin1')
  }

  /** A request as it should be. */
  request(...headers) {
    const line = this.of(REPEATABLE)
    const isUpload = line.startsWith('POST')
    const body = isUpload ? '{"a":1}' : ''
    const framing = isUpload ? [`Content-Length: ${body.length}`, 'Content-Type: application/json'] : []
    return head(line, ...framing, ...headers) + body
  }
}

const head = (line, ...headers) => [`${line} HTTP/1.1`, 'Host: a', ...headers, '', ''].join(BREAK)
const chunked = (line, body) =>
  head(line, 'Transfer-Encoding: chunked', 'Content-Type: application/json') + body

/** By kind: text, a byte a character. */
const KINDS = {
  badChunking: (dice) =>
    chunked(
      dice.of(['POST /json', 'POST /upload', 'GET /ok']),
      dice.of([
        'zz\r\nabc\r\n',
        '-1\r\nabc\r\n',
        'ffffffffffffffffff\r\nabc',
        '3abc\r\n0\r\n\r\n',
        '3\r\nabcdef\r\n0\r\n\r\n',
        `3;${'x'.repeat(dice.below(20_000))}\r\nabc\r\n0\r\n\r\n`,
        '3\nabc\n0\n\n',
        '3\r\nabc\r\n0\r\nTrailer: \0\r\n\r\n',
        `3\r\nabc\r\n0\r\n${'X: y\r\n'.repeat(dice.below(5000))}\r\n`,
        '3\r\nab',
        `${dice.bytes(10)}\r\n${dice.bytes(100)}`,
      ])
    ),
  oversizedHeaders: (dice) =>
    dice.of([
      () => head('GET /ok', `X-Long: ${'x'.repeat(10_000 + dice.below(40_000))}`),
      () => head('GET /ok', ...Array.from({ length: dice.below(4000) }, (_, i) => `X-${i}: ${i}`)),
      () => head(`GET /ok?${'q'.repeat(10_000 + dice.below(40_000))}`),
      () => `GET /ok HTTP/1.1\r\n${'x'.repeat(dice.below(40_000))}`,
    ])(),
  headerInjection: (dice) => {
    const control = dice.of(CONTROLS)
    return dice.of([
      () => dice.request(`X-In${control}jected: a`),
      () => dice.request(`X-Value: a${control}Injected: yes`),
      () => dice.request(`X-Folded: a\r\n${control}b`),
      () => dice.request('Content-Length: 5', 'Content-Length: 6'),
      () => dice.request('Content-Length: 5', 'Transfer-Encoding: chunked'),
      () =>
        dice.request(`Transfer-Encoding: ${dice.of(['xchunked', 'chunked, identity', ' chunked', 'gzip'])}`),
      () =>
        dice.request(`Content-Length: ${dice.of(['+5', '0x5', '-1', '5 5', '99999999999999999999', ''])}`),
      () =>
        head(
          `GET /echo?value=${dice.of(['%0d%0aInjected:%20yes', '%00', '%ff', '%E2%98', 'a%0aSet-Cookie:x'])}`
        ),
      () => head('GET /echo?value=a', `Host: b${control}`),
    ])()
  },
  slowBody: (dice) => [
    head(
      dice.of(['POST /json', 'POST /upload']),
      `Content-Length: ${5 + dice.below(1e6)}`,
      'Content-Type: application/json'
    ),
    ...Array.from({ length: dice.below(5) }, () => 'x'.repeat(1 + dice.below(4))),
  ],
  pipelinedGarbage: (dice) => dice.request().repeat(1 + dice.below(5)) + dice.bytes(200) + dice.request(),
  truncated: (dice) => {
    const request = dice.request().repeat(1 + dice.below(3))
    return request.slice(0, 1 + dice.below(request.length))
  },
  badUpgrade: (dice) =>
    dice.of([
      () =>
        head(
          'GET /ok',
          'Connection: Upgrade',
          `Upgrade: ${dice.of(['websocket', 'h2c', '', dice.bytes(20)])}`
        ),
      () => `${head('POST /json', 'Connection: Upgrade', 'Upgrade: x', 'Content-Length: 9')}part`,
      () => head(`CONNECT ${dice.of(['host:1', '/', '', 'host'])}`) + dice.bytes(50),
      () => PREFACE + dice.bytes(100),
      () => head('GET /ok', 'Expect: 100-continue', 'Connection: Upgrade', 'Upgrade: websocket'),
      () => head('POST /json', 'Expect: nonsense', 'Content-Length: 3'),
    ])(),
  mutated: (dice) => {
    const bytes = [...dice.request(), ...dice.request()]
    for (let i = dice.below(8); i >= 0; i--) {
      const at = dice.below(bytes.length)
      bytes.splice(at, dice.below(3), ...(dice.is(0.7) ? [dice.of(CONTROLS)] : []))
    }
    return bytes.join('')
  },
  garbage: (dice) => dice.bytes(2000),
  sound: (dice) => dice.request().repeat(1 + dice.below(3)),
}

/** Frames of HTTP/2, of a length and a type by chance, after a preface that is mostly right. */
function frames(dice) {
  let text = dice.is(0.9) ? PREFACE + SETTINGS : dice.bytes(24)
  if (dice.is(0.7)) text += HEADERS
  for (let i = dice.below(6); i >= 0; i--) {
    const payload = dice.bytes(50)
    const length = dice.is(0.8) ? payload.length : dice.below(2 ** 24)
    const header = Buffer.from([
      length >> 16,
      length >> 8,
      length,
      dice.below(12),
      dice.below(256),
      0,
      0,
      0,
      dice.below(8),
    ])
    text += header.toString('latin1') + payload
  }
  return text
}

const HTTP_2_SHARE = 0.1
/** `patient` reads until the server has closed. */
const ENDINGS = /** @type {const} */ (['fin', 'patient', 'destroy', 'reset'])

/**
 * @returns {{ kind: string, isHttp2: boolean, pieces: Buffer[], ending: 'fin' | 'patient' | 'destroy' |
 *   'reset' }}
 */
function caseOf(random) {
  const dice = new Dice(random)
  const isHttp2 = dice.is(HTTP_2_SHARE)
  const kind = isHttp2 ? 'frames' : dice.of(Object.keys(KINDS))
  const texts = [isHttp2 ? frames(dice) : KINDS[kind](dice)].flat()
  const ending = dice.of(ENDINGS)
  return { kind, isHttp2, ending, pieces: texts.flatMap((text) => cut(dice, text)) }
}

/** Sometimes into pieces, as a network may. */
function cut(dice, text) {
  const bytes = Buffer.from(text, 'latin1')
  if (bytes.length < 2 || dice.is(0.6)) return [bytes]
  const at = 1 + dice.below(bytes.length - 1)
  return [bytes.subarray(0, at), bytes.subarray(at)]
}

module.exports = { caseOf }

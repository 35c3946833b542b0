'use strict'
// Answers requests of trusted proxies that ask for the load, in the format of ORCA (Open Request Cost
// Aggregation):
//   endpoint-load-metrics-format: TEXT        asks, in a request
//   endpoint-load-metrics: TEXT application_utilization=0.62,cpu_utilization=0.58,rps_fractional=412.5,eps=0
// Other clients get no answer, because it would tell an attacker when an attack begins to hurt.

const net = require('node:net')

/**
 * @import { Clock } from '../../core/clock'
 * @import { Shortages } from '../../core/gate/limits/resource-limits'
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 * @import { RequestRecord } from '../../core/request/request-record'
 * @typedef {(req: import('../../../index.js').Request) => unknown} IsTrusted
 */

const ASKS = 'endpoint-load-metrics-format'
const HEADER = 'endpoint-load-metrics'
const PLACE = 'balancer.orca'
const SERVER_ERROR = 500
const SECOND_MS = 1000

class LoadHeaders {
  #isTrusted
  #clock
  #internalErrors
  #shortages
  #sampledMs
  #sampledCpuMs
  #rejected
  /** Figures of the last second, because figures of 100 ms would jump. @type {Record<string, number>} */
  #rates = {}
  #requests = 0
  #errors = 0
  /**
   * Header values by format. The format comes from the client, so the object has no prototype.
   *
   * @type {Record<string, string>}
   */
  #texts = Object.create(null)

  /**
   * @param {{ trusted: readonly string[] | IsTrusted, clock: Clock, internalErrors: InternalErrors,
   *   pressure: { readonly ratio: number }, shortages: Pick<Shortages, 'rejected'> }} deps
   */
  constructor({ trusted, clock, internalErrors, pressure, shortages }) {
    this.#isTrusted = typeof trusted === 'function' ? trusted : addressesIn(trusted)
    this.#clock = clock
    this.#internalErrors = internalErrors
    this.#shortages = shortages
    this.#sampledMs = clock.now()
    this.#sampledCpuMs = clock.cpuMs()
    this.#rejected = shortages.rejected
    this.#write({ application_utilization: pressure.ratio })
  }

  /** Called ten times a second until the pressure is 0. @param {number} ratio */
  onSample(ratio) {
    const nowMs = this.#clock.now()
    const cpuMs = this.#clock.cpuMs()
    const { rejected } = this.#shortages
    const elapsedMs = nowMs - this.#sampledMs
    const perSecond = (/** @type {number} */ count) => (1000 * count) / elapsedMs
    if (elapsedMs >= SECOND_MS || ratio === 0) {
      this.#rates = {
        cpu_utilization: (cpuMs - this.#sampledCpuMs) / elapsedMs,
        rps_fractional: perSecond(this.#requests),
        eps: perSecond(this.#errors + rejected - this.#rejected),
      }
      this.#begin(nowMs, cpuMs, rejected)
    }
    this.#write({ application_utilization: ratio, ...this.#rates })
  }

  /** @param {number} nowMs @param {number} cpuMs @param {number} rejected */
  #begin(nowMs, cpuMs, rejected) {
    this.#sampledMs = nowMs
    this.#sampledCpuMs = cpuMs
    this.#rejected = rejected
    this.#requests = this.#errors = 0
  }

  /** @param {Record<string, number>} figures */
  #write(figures) {
    const rounded = Object.entries(figures).map(
      ([name, value]) => /** @type {const} */ ([name, Math.round(value * 1000) / 1000])
    )
    this.#texts.text = `TEXT ${rounded.map(([name, value]) => `${name}=${value}`).join(',')}`
    this.#texts.json = `JSON ${JSON.stringify(Object.fromEntries(rounded))}`
  }

  // Hot path: once a request, where the option is given.
  /** @param {RequestRecord} request */
  onRequest({ req, res }) {
    this.#requests++
    const format = req.headers[ASKS]
    if (format === undefined) return
    const text = this.#texts[String(format).toLowerCase()]
    if (text !== undefined && !res.headersSent && this.#trusts(req)) res.setHeader(HEADER, text)
  }

  /**
   * Only the answer `true` counts as trusted, because a mistake in the user's function must not show the
   * load.
   *
   * @param {import('../../../index.js').Request} req
   */
  #trusts(req) {
    try {
      const answer = this.#isTrusted(req)
      this.#internalErrors.catchRejection(PLACE, answer)
      return answer === true
    } catch (error) {
      this.#internalErrors.report(PLACE, error)
      return false
    }
  }

  /** Counts failed requests. Rejected requests are counted by the gate. @param {RequestRecord} request */
  onEnd({ status, ticket }) {
    if (status >= SERVER_ERROR && !ticket.isRejected) this.#errors++
  }
}

/** @param {readonly string[]} trusted addresses and subnets, such as '10.0.0.0/8' @returns {IsTrusted} */
function addressesIn(trusted) {
  const list = new net.BlockList()
  for (const each of trusted) {
    const [address, bits] = each.split('/')
    const family = net.isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return ({ socket }) => {
    // On an IPv6 wildcard socket, an IPv4 client has the prefix `::ffff:`.
    const address = socket?.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '')
    return address !== undefined && list.check(address, net.isIPv6(address) ? 'ipv6' : 'ipv4')
  }
}

exports.LoadHeaders = LoadHeaders

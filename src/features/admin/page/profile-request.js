'use strict'
// Asks the process for a profile, and saves the files that the process makes. A refusal becomes an error with
// one sentence.

const { linesOf, urlOf } = require('./live')
const { token } = require('./token')

/**
 * @import { ProfileResult } from './profile-result'
 * @typedef {{ elapsedMs: number, totalMs: number, startPauseMs: number }} Progress
 */

const LINES = 'application/x-ndjson'
/** Delay before the address of a saved file is revoked. Not all browsers have read the file before. */
const REVOKE_MS = 10_000
/**
 * Longest rest that the page waits for. The loop rests after each pause on demand. A longer rest is reported.
 */
const MAX_REST_S = 60
const TOO_MANY_REQUESTS = 429

class Refusal extends Error {}

/**
 * @param {string} path
 * @param {RequestInit & { onRest?: ((seconds: number) => void) | undefined }} [init]
 * @returns {Promise<Response>}
 */
async function ask(path, { headers = {}, onRest, ...init } = {}) {
  let response
  try {
    response = await fetch(urlOf(path), {
      ...init,
      headers: { ...headers, ...token.headers },
      cache: 'no-store',
    })
  } catch {
    throw new Refusal('The process does not answer.')
  }
  const restS = Number(response.headers.get('retry-after'))
  if (response.status === TOO_MANY_REQUESTS && restS > 0 && restS <= MAX_REST_S) {
    onRest?.(restS)
    await pause(restS, init.signal)
    return ask(path, { headers, onRest, ...init })
  }
  if (!response.ok) throw new Refusal((await response.text()).trim())
  return response
}

/** @param {number} lengthS @param {AbortSignal | null} [signal] ends it */
const pause = (lengthS, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, lengthS * 1000)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve(undefined)
    })
  })

/**
 * @param {string} path
 * @param {Record<string, string | number>} asked
 * @param {string} worker empty for the worker that answers
 */
const withQuery = (path, asked, worker) => {
  const query = new URLSearchParams({ ...asked, ...(worker !== '' && { worker }) }).toString()
  return query === '' ? path : `${path}?${query}`
}

/**
 * @param {string} path
 * @param {{ seconds: number, worker: string, signal: AbortSignal, onProgress: (progress: Progress) => void,
 *   onRest: (seconds: number) => void }} asked aborting the signal ends the profile in the process too
 * @returns {Promise<ProfileResult>}
 */
async function takeProfile(path, { seconds, worker, signal, onProgress, onRest }) {
  const response = await ask(withQuery(path, { seconds }, worker), {
    method: 'POST',
    headers: { Accept: LINES },
    signal,
    onRest,
  })
  const end = await endOf(response, onProgress).catch(() => undefined)
  if (end?.result === undefined)
    throw new Refusal(end?.error ?? 'The connection ended before the profile was done.')
  return end.result
}

/**
 * @param {Response} response @param {(progress: Progress) => void} onProgress
 * @returns {Promise<{ result?: ProfileResult, error?: string } | undefined>} the last line; undefined if
 *   there is no such line
 */
async function endOf({ body }, onProgress) {
  let end
  for await (const line of linesOf(/** @type {NonNullable<Response['body']>} */ (body))) {
    const read = JSON.parse(line)
    if (read.progress === undefined) end = read
    else onProgress(read.progress)
  }
  return end
}

/**
 * Asks what a profile costs, and why it is refused now, if it is.
 *
 * @param {string} path @param {string} worker @returns {Promise<{ costs: string, expectedPauseMs: number,
 *   refusal: string | null }>}
 */
const describeProfile = async (path, worker) => (await ask(withQuery(path, {}, worker))).json()

/**
 * Saves a file. A link cannot send the token, so the file is fetched and then saved from memory.
 *
 * @param {string} path
 * @param {string} [worker]
 */
async function saveFile(path, worker = '') {
  const response = await ask(withQuery(path, {}, worker))
  const [, name = 'spillway'] =
    /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? []
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_MS)
}

module.exports = { ask, describeProfile, saveFile, takeProfile }

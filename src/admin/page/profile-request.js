'use strict'
// Asks the process for a profile, and saves files that it makes. What is refused comes as an error with one sentence.

const { linesOf, urlOf } = require('./live')
const { token } = require('./token')

const LINES = 'application/x-ndjson'
/** A browser reads the file of an address that is revoked at once, but not all of them do. */
const REVOKE_MS = 10_000

class Refusal extends Error {}

/** @param {string} path @param {RequestInit} [init] */
async function ask(path, { headers, ...init } = {}) {
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
  if (!response.ok) throw new Refusal((await response.text()).trim())
  return response
}

/** @param {string} path @param {Record<string, string | number>} asked @param {string} worker empty for the worker that answers */
const withQuery = (path, asked, worker) => {
  const query = new URLSearchParams({ ...asked, ...(worker !== '' && { worker }) }).toString()
  return query === '' ? path : `${path}?${query}`
}

/**
 * @param {string} path
 * @param {{ seconds: number, worker: string, signal: AbortSignal, onProgress: (progress: any) => void }} asked an aborted signal ends it in the process too
 * @returns {Promise<any>} the result
 */
async function takeProfile(path, { seconds, worker, signal, onProgress }) {
  const response = await ask(withQuery(path, { seconds }, worker), {
    method: 'POST',
    headers: { Accept: LINES },
    signal,
  })
  const end = await endOf(response, onProgress).catch(() => undefined)
  if (end?.result === undefined)
    throw new Refusal(end?.error ?? 'The connection ended before the profile was done.')
  return end.result
}

/** @returns {Promise<any>} the last line, with the result or an error; undefined if there is none */
async function endOf({ body }, onProgress) {
  let end
  for await (const line of linesOf(body)) {
    const read = JSON.parse(line)
    if (read.progress === undefined) end = read
    else onProgress(read.progress)
  }
  return end
}

/** @param {string} path @param {string} worker @returns {Promise<any>} what it costs, and why none can be taken now */
const describeProfile = async (path, worker) => (await ask(withQuery(path, {}, worker))).json()

/**
 * Saves a file. A link cannot send the token, so the file is fetched, and saved from memory.
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

module.exports = { describeProfile, saveFile, takeProfile }

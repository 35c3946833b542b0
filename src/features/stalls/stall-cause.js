'use strict'
// Decides why the loop was blocked, from the figures of one turn.

const CAUSES = /** @type {const} */ (['javascript', 'native', 'garbage-collection', 'host', 'unknown'])
/**
 * If the reading of the stack takes longer than this, native code ran. JavaScript can be interrupted at the
 * next call or loop, within a few milliseconds. A native call answers when it is over.
 */
const NATIVE_MS = 15

/**
 * @param {{ durationMs: number, collectedMs: number, waitedMs: number, thresholdMs: number,
 *   seen: { delayMs: number, place: unknown } | undefined }} turn waitedMs: how long the thread waited for a
 *   CPU
 * @returns {typeof CAUSES[number]}
 */
function causeOf({ durationMs, collectedMs, waitedMs, thresholdMs, seen }) {
  const mostMs = durationMs / 2
  if (collectedMs >= mostMs) return 'garbage-collection'
  // The cause is not the host if the turn, without its wait for a CPU, reaches the threshold.
  if (waitedMs >= mostMs && durationMs - waitedMs < thresholdMs) return 'host'
  if (seen?.place === undefined) return 'unknown'
  // On a busy host every thread answers late.
  const delayMs = seen.delayMs * (1 - waitedMs / durationMs)
  return delayMs >= NATIVE_MS ? 'native' : 'javascript'
}

module.exports = { CAUSES, NATIVE_MS, causeOf }

'use strict'
// One log line, when a server listens: which features Node's permission model turns off, and which flags would turn them on.

const { forbiddenFeatures, forbiddenText } = require('../environment/permissions')

/** @param {(fields: object, message: string) => void} info @param {Parameters<typeof forbiddenFeatures>[0]} parts */
function writeForbidden(info, parts) {
  const forbidden = forbiddenFeatures(parts)
  if (forbidden.length > 0) info({ event: 'restricted', forbidden }, `spillway: ${forbiddenText(forbidden)}`)
}

module.exports = { writeForbidden }

'use strict'
// What to call instead of the synchronous functions of Node.js that block a loop most often. Built-in functions of JavaScript, such as
// `JSON.parse`, leave no frame.

/** The advice for the first function that is in the stack. */
const INSTEAD = /** @type {const} */ ([
  [['pbkdf2Sync'], 'use crypto.pbkdf2, or move the hashing to a worker thread'],
  [['scryptSync'], 'use crypto.scrypt, or move the hashing to a worker thread'],
  [['hashSync', 'compareSync'], 'use the asynchronous hash and compare of the package'],
  [
    ['generateKeyPairSync', 'randomFillSync', 'checkPrimeSync', 'generatePrimeSync', 'hkdfSync'],
    'use the function of node:crypto without Sync',
  ],
  [
    ['gzipSync', 'gunzipSync', 'deflateSync', 'inflateSync', 'deflateRawSync', 'inflateRawSync', 'unzipSync'],
    'use the function of node:zlib without Sync, or a stream',
  ],
  [
    ['brotliCompressSync', 'brotliDecompressSync', 'zlibBufferSync'],
    'use the function of node:zlib without Sync, or a stream',
  ],
  [['execSync', 'execFileSync', 'spawnSync'], 'use execFile or spawn of node:child_process'],
  [
    ['readFileSync', 'writeFileSync', 'appendFileSync', 'readdirSync', 'statSync', 'existsSync', 'readSync'],
    'use node:fs/promises, or read the file once at the start',
  ],
])

/** @param {{ function?: string | null, frames?: readonly string[] } | undefined} site of a stall */
function adviceForCall(site) {
  if (site === undefined) return undefined
  const words = new Set([site.function ?? '', ...(site.frames ?? [])].join(' ').split(/\W/))
  return INSTEAD.find(([names]) => names.some((name) => words.has(name)))?.[1]
}

module.exports = { adviceForCall }

'use strict'
// What to call instead of the synchronous functions of Node.js and of JavaScript that block a loop most often.

/** By a frame of the stack, the first that matches. */
const INSTEAD = [
  [/\bpbkdf2Sync\b/, 'use crypto.pbkdf2, or move the hashing to a worker thread'],
  [/\bscryptSync\b/, 'use crypto.scrypt, or move the hashing to a worker thread'],
  [/\b(hashSync|compareSync)\b/, 'use the asynchronous hash and compare of the package'],
  [
    /\b(generateKeyPairSync|randomFillSync|checkPrimeSync|hkdfSync)\b/,
    'use the function of node:crypto without Sync',
  ],
  [
    /\b(gzip|gunzip|deflate|inflate|brotli\w*|unzip)\w*Sync\b/,
    'use the function of node:zlib without Sync, or a stream',
  ],
  [/\b(execSync|execFileSync|spawnSync)\b/, 'use execFile or spawn of node:child_process'],
  [
    /\b(readFileSync|writeFileSync|readdirSync|statSync|existsSync|appendFileSync|openSync)\b/,
    'use node:fs/promises, or read the file once at the start',
  ],
  [/\bJSON\.parse\b/, 'limit the size of what is parsed, or parse large documents in a worker thread'],
  [/\bJSON\.stringify\b|\bstringify\b/, 'page the result, or stream it in parts'],
  [
    /\bRegExp\b|\[Symbol\.(replace|match|split)\]/,
    'bound the input, and rewrite the expression so that it cannot backtrack',
  ],
  [/\bsort\b/, 'sort in the database, or fewer rows at a time'],
]

/** @param {{ function?: string | null, frames?: readonly string[] } | undefined} site of a stall */
function adviceForCall(site) {
  if (site === undefined) return undefined
  const frames = [site.function ?? '', ...(site.frames ?? [])].join('\n')
  return INSTEAD.find(([pattern]) => /** @type {RegExp} */ (pattern).test(frames))?.[1]
}

module.exports = { adviceForCall }

'use strict'
// Advice for the code that most often blocks a loop. It depends on the blocking call of a stall, or on the
// package whose code ran.

/**
 * @typedef {{ call: string | null, file: string | null, function: string | null, package: string | null,
 *   frames: readonly string[], origin?: string | null }} Blocked a site of stalls
 * @typedef {readonly [found: RegExp, instead: string, withoutRequest?: string]} Row `withoutRequest`: advice for
 *   code that runs for no request, such as a timer. Such code has neither pages nor an answer to stream
 */

/** Advice by the function of Node or V8 that was called. @type {readonly Row[]} */
const BY_CALL = [
  [
    /^(?:RegExp\b|String\.(?:match|replace|search|split))/,
    'bound the length of the input, and rewrite the expression without a repeated group inside a repeated group, so that it cannot backtrack for long',
  ],
  [/\bpbkdf2Sync$/, 'use crypto.pbkdf2 with a callback, which hashes in the thread pool'],
  [/\bscryptSync$/, 'use crypto.scrypt with a callback, which hashes in the thread pool'],
  [
    /\brandom(?:Bytes|FillSync)$/,
    'use crypto.randomBytes with a callback, and ask for fewer bytes at a time',
  ],
  [
    /\bgenerateKey(?:Pair)?Sync$/,
    'use crypto.generateKeyPair with a callback, or make the keys at the start',
  ],
  [/^Hash\.|^crypto\.hash$/, 'hash large data as a stream, with pipeline() into crypto.createHash'],
  [/\b(?:hkdf|checkPrime|generatePrime)Sync$/, 'use the function of node:crypto without Sync'],
  [
    /\b(?:gzip|gunzip|deflate|deflateRaw|inflate|inflateRaw|unzip|brotliCompress|brotliDecompress|zstdCompress|zstdDecompress)Sync$/,
    'use the function of node:zlib without Sync, or pipeline() with a stream of it',
  ],
  [
    /^JSON\.parse$/,
    'bound what is parsed (`limit` of the body parser), take large data in parts such as lines, or parse it in a worker thread',
    'take large data in parts such as lines, or parse it in a worker thread',
  ],
  [
    /^JSON\.stringify$/,
    'paginate the result, or stream it row by row instead of making one text of it',
    'make the text in parts and let the event loop turn between the parts, or make it in a worker thread',
  ],
  [/\b(?:exec|execFile|spawn)Sync$/, 'use execFile or spawn of node:child_process, and await its end'],
  [/\breadFileSync$/, 'use fs.promises.readFile, or read the file once at the start'],
  [/\bwriteFileSync$/, 'use fs.promises.writeFile'],
  [/\bappendFileSync$/, 'use fs.promises.appendFile, or keep a stream of fs.createWriteStream open'],
  [/\breaddirSync$/, 'use fs.promises.readdir'],
  [/\b(?:hash|compare|genSalt)Sync$/, 'use the asynchronous hash and compare of the package'],
  [
    /^fs\.|\b(?:stat|lstat|exists|read|write|rm|cp|copyFile|mkdir)Sync$/,
    'use the same function of node:fs/promises',
  ],
  [
    /^structuredClone$/,
    'copy only what changes, or hand the data over once instead of cloning it for each request',
    'copy only what changes',
  ],
  [
    /^\w*Array\.(?:sort|toSorted)$/,
    'sort and paginate in the database, or keep the sorted array instead of sorting it for each request',
    'sort in the database or in a worker thread, or keep the array sorted',
  ],
  [
    /^(?:\w*Array|Map|Set)\./,
    'paginate the data, or take the array in parts and let the event loop turn between the parts',
    'take the array in parts and let the event loop turn between the parts',
  ],
  [/^require$/, 'load the module at the start, and not in a handler'],
  [
    /^console\./,
    'log less, and with a logger that writes asynchronously, such as pino with `sync: false`: console waits for the terminal or the file',
  ],
]

const TEMPLATES = String.raw`\bnode_modules[/\\](?:ejs|pug[\w-]*|constantinople|handlebars|hbs|nunjucks|mustache|eta)[/\\]`

/**
 * Advice by the frames, from the function of the application on. The first row that matches any of these
 * frames applies.
 *
 * @type {readonly Row[]}
 */
const BY_FRAME = [
  [
    /\bnode_modules[/\\]bcryptjs[/\\]/,
    'use the package bcrypt, or crypto.scrypt: bcryptjs hashes in JavaScript, on the event loop, with its asynchronous functions too',
  ],
  [
    new RegExp(
      String.raw`^\S*compile\S* \(.*${TEMPLATES}|\bnode_modules[/\\](?:constantinople|@babel[/\\]parser)[/\\]`
    ),
    // Pug parses the code of a template with Babel.
    'compile the template once and keep it: in Express `app.enable("view cache")`, or NODE_ENV=production',
  ],
  [
    new RegExp(TEMPLATES),
    'paginate what is rendered, or cache the rendered text. The template is already compiled, so caching it does not help',
    'render fewer rows at a time, or render in a worker thread. The template is already compiled, so caching it does not help',
  ],
  [
    /\bnode_modules[/\\]sequelize[/\\]/,
    'select fewer rows and columns (`limit`, `attributes`), or plain rows with `raw: true`: making an instance of each row takes long',
  ],
  [
    /\bnode_modules[/\\]typeorm[/\\]/,
    'select fewer rows and columns (`take`, `select`), or plain rows with getRawMany(): making an entity of each row takes long',
  ],
  [
    /\bnode_modules[/\\]mongoose[/\\]/,
    'select fewer documents and fields (`limit`, `select`), or plain objects with lean(): making a document of each takes long',
  ],
  [
    /\bnode_modules[/\\](?:sonic-boom|winston|log4js|bunyan)[/\\]/,
    'log less, and to a destination that writes asynchronously, such as pino with `sync: false`',
  ],
  [/\(node:internal\/modules\//, 'load the module at the start, and not in a handler'],
]

/** The origins of code that runs for no request. */
const WITHOUT_REQUEST = new Set(['background', 'startup'])

/**
 * @param {Blocked} site
 * @returns {string | undefined} undefined if the only advice is to look at the function
 */
function adviceForCall(site) {
  const byFrame = byFrameOf(site)
  // The advice about a package comes first, because a package calls functions of V8 too.
  if (site.package !== null && byFrame !== undefined) return byFrame
  const { call } = site
  return (
    (call === null
      ? undefined
      : adviceOf(
          BY_CALL.find(([found]) => found.test(call)),
          site
        )) ?? byFrame
  )
}

/**
 * Looks at the site's own frame and the next one. A compiled template is itself a function, and its renderer
 * is the next frame.
 *
 * @param {Blocked} site
 */
function byFrameOf(site) {
  const { file, frames, function: name } = site
  const place = frames.findIndex((frame) => frame.startsWith(`${name} (${file}:`))
  const inner = frames.slice(0, place === -1 ? undefined : place + 2)
  return adviceOf(
    BY_FRAME.find(([found]) => inner.some((frame) => found.test(frame))),
    site
  )
}

/** @param {Row | undefined} row @param {Blocked} site */
function adviceOf(row, { origin }) {
  if (row === undefined) return undefined
  const [, instead, withoutRequest] = row
  return (WITHOUT_REQUEST.has(String(origin)) ? withoutRequest : undefined) ?? instead
}

module.exports = { adviceForCall }

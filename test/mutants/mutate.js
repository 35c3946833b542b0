'use strict'
// Small mistakes that a test should notice: one change of one line of code. Comments and strings are left
// alone.

const OPERATORS = /** @type {const} */ ([
  [/ < /, ' <= '],
  [/ <= /, ' < '],
  [/ > /, ' >= '],
  [/ >= /, ' > '],
  [/ === /, ' !== '],
  [/ !== /, ' === '],
  [/ && /, ' || '],
  [/ \|\| /, ' && '],
  [/ \?\? /, ' && '],
  [/ \+ /, ' - '],
  [/ - /, ' + '],
  [/ \* /, ' / '],
  [/ \/ /, ' * '],
  [/ \+= /, ' -= '],
  [/ -= /, ' += '],
  [/\+\+/, '--'],
  [/\btrue\b/, 'false'],
  [/\bfalse\b/, 'true'],
  [/\bif \((.*)\) /, 'if (!($1)) '],
  [/\breturn (?!undefined)([^;{]+)$/, 'return undefined'],
  [/^(\s+)(this\.)?#?\w+(\.\w+)*\([^{]*\)$/, '$1void 0'],
  [/\bMath\.max\(/, 'Math.min('],
  [/\bMath\.min\(/, 'Math.max('],
])

/** A line of a comment, of an import or of a string. */
const IS_NO_CODE = /^\s*(\/\/|\/\*|\*|['"`])|require\(|^module\.exports|^'use strict'/

/**
 * @param {string} source
 * @returns {{ line: number, before: string, after: string, source: string }[]} every mutant of a file
 */
function mutantsOf(source) {
  const lines = source.split('\n')
  return lines.flatMap((before, i) => {
    if (IS_NO_CODE.test(before)) return []
    const code = before.replace(/'[^']*'|`[^`]*`/g, (text) => ' '.repeat(text.length))
    return OPERATORS.flatMap(([pattern, replacement]) => {
      if (!pattern.test(code)) return []
      const after = before.replace(pattern, replacement)
      if (after === before) return []
      const mutated = [...lines]
      mutated[i] = after
      return [{ line: i + 1, before: before.trim(), after: after.trim(), source: mutated.join('\n') }]
    })
  })
}

module.exports = { mutantsOf }

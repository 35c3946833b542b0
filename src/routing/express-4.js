'use strict'
// Paths of mount layers in Express 4: only the compiled expression is kept, with the names of its groups in order.
// So the template is the part of the URL that was taken, with the span of each group replaced by its name: exact
// also for parameters with a pattern of their own, which no value of ours would match.
// An expression the user gave is its own template.

/** What Express 4 appends to every path it compiles for a mount. */
const COMPILED_END = '\\/?(?=\\/|$)'

const isRootMount = (layer) => layer.regexp.fast_slash === true

/** @returns {string | ((taken: string) => string)} */
function mountPath(layer) {
  if (!layer.regexp.source.includes(COMPILED_END)) return String(layer.regexp)
  const spans = new RegExp(layer.regexp.source, `${layer.regexp.flags}d`)
  const known = new Map()
  return (taken) => {
    const match = spans.exec(taken)
    if (match === null) return '(unknown)'
    // One shape is one template: the same groups at the same depth.
    const groups = match.indices.slice(1)
    const shape = `${groups.map((group) => (group === undefined ? 0 : 1))} ${taken.split('/').length}`
    let template = known.get(shape)
    if (template === undefined) {
      template = named(taken.slice(0, match[0].length), groups, layer.keys)
      known.set(shape, template)
    }
    return template
  }
}

function named(text, groups, keys) {
  let template = ''
  let end = 0
  for (let i = 0; i < groups.length; i++) {
    const group = groups[i]
    if (group === undefined || keys[i] === undefined || group[0] < end) continue
    const { name } = keys[i]
    template += text.slice(end, group[0]) + (typeof name === 'number' ? '*' : `:${name}`)
    end = group[1]
  }
  return template + text.slice(end)
}

module.exports = { isRootMount, mountPath }

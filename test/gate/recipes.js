'use strict'
// The blocks of code of docs/recipes.md and docs/rejected-requests.md, run as they stand there.

const { readFileSync } = require('node:fs')
const { join } = require('node:path')

const PAGE = ['recipes.md', 'rejected-requests.md']
  .map((name) => readFileSync(join(__dirname, '../../docs', name), 'utf8'))
  .join('\n')

/**
 * @param {string} heading of the section whose first block of code it is
 * @param {string[]} names what to give of it
 * @returns {Promise<any>}
 */
async function recipe(heading, names = ['shed']) {
  const section = PAGE.split(/^#{2,3} /m).find((each) => each.startsWith(`${heading}\n`))
  const code = section?.match(/```js\n(.*?)```/s)?.[1]
  if (code === undefined) throw new Error(`there is no recipe '${heading}'`)
  // Each time a module of its own: what a recipe remembers is of one test alone.
  const module = `// ${recipe.count++}\n${code}\nexport { ${names.join(', ')} }`
  return import(`data:text/javascript,${encodeURIComponent(module)}`)
}
recipe.count = 0

/** Every heading whose section holds a recipe. */
const recipes = () =>
  PAGE.split(/^#{2,3} /m)
    .filter((each) => each.includes('const shed = {'))
    .map((each) => each.slice(0, each.indexOf('\n')))

module.exports = { recipe, recipes }

'use strict'
// Saves what a bench measured, with the date, the machine and the versions, in a file for each major of Node.
// bench/tables makes the tables of the documentation from these files.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const RESULTS = path.join(__dirname, '..', 'results')
/** The release that most users run comes first in tables, then the others from new to old. */
const LEADING = 24
const [MAJOR] = process.versions.node.split('.').map(Number)

const machine = () => ({
  cpu: os.cpus()[0].model.trim(),
  cores: os.cpus().length,
  memoryGiB: Math.round(os.totalmem() / 2 ** 30),
  platform: `${os.platform()} ${os.release()} ${os.arch()}`,
  node: process.version,
})

const machineLine = () => {
  const { cpu, cores, memoryGiB, platform, node } = machine()
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${platform}, Node ${node}`
}

const fileOf = (name, major) => path.join(RESULTS, `${name}-node-${major}.json`)

/** @returns {string} the path of the file, for a message */
function save(name, content) {
  fs.mkdirSync(RESULTS, { recursive: true })
  const file = fileOf(name, MAJOR)
  const date = new Date().toISOString().slice(0, 10)
  fs.writeFileSync(file, `${JSON.stringify({ date, machine: machine(), ...content }, null, 2)}\n`)
  return path.relative(process.cwd(), file)
}

/** @returns {any} what was saved last with this major of Node */
const load = (name, major = MAJOR) => JSON.parse(fs.readFileSync(fileOf(name, major), 'utf8'))

/** @returns {number[]} the majors of Node that there are results of, the leading major first */
function majorsOf(name) {
  const majors = fs
    .readdirSync(RESULTS)
    .filter((file) => file.startsWith(`${name}-node-`) && file.endsWith('.json'))
    .map((file) => Number(file.slice(`${name}-node-`.length, -'.json'.length)))
  return inOrder(majors)
}

/** @returns {number[]} each major once, in the order of the tables */
const inOrder = (majors) =>
  [...new Set(majors)].sort((a, b) => Number(b === LEADING) - Number(a === LEADING) || b - a)

module.exports = { inOrder, load, machineLine, majorsOf, save }

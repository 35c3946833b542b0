'use strict'
// Saves what a benchmark measured, with the machine, the versions and the date: the README's tables come from here.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const RESULTS = path.join(__dirname, '..', 'results')

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

function save(name, content) {
  fs.mkdirSync(RESULTS, { recursive: true })
  const file = path.join(RESULTS, `${name}.json`)
  const date = new Date().toISOString().slice(0, 10)
  fs.writeFileSync(file, `${JSON.stringify({ date, machine: machine(), ...content }, null, 2)}\n`)
  return path.relative(process.cwd(), file)
}

const load = (name) => JSON.parse(fs.readFileSync(path.join(RESULTS, `${name}.json`), 'utf8'))

module.exports = { load, machineLine, save }

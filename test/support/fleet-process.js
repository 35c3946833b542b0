'use strict'
// node fleet-process.js <options as JSON>: the primary of a cluster whose members do what the test says over
// IPC. With `threads` the members are threads of this process. Without a primary of ours there is
// `member: true`: it is one itself.

const cluster = require('node:cluster')
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')

const tell = (message) => (isMainThread ? process.send(message) : parentPort.postMessage(message))

/** A primary that is no member loads no spillway. */
const newMember = (options) => require('./fleet-member').createMember(options)

function obey(member) {
  return async ({ id, ...order }) => {
    try {
      tell({ id, answer: await member(order) })
    } catch (error) {
      tell({ id, error: error.stack })
    }
  }
}

async function runMember(options) {
  const member = newMember(options)
  const listener = obey(member)
  if (isMainThread) process.on('message', listener)
  else parentPort.on('message', listener)
  // Made when it has joined.
  await member({ do: 'snapshot' })
  tell({ ready: true })
}

function runPrimary({ member: isMember, threads, ...options }) {
  cluster.setupPrimary({ args: [JSON.stringify(options)] })
  const workers = new Map()
  const self = isMember ? newMember(options) : undefined
  let threadCount = 0
  const fork = () => {
    const child = threads ? new Worker(__filename, { workerData: options }) : cluster.fork()
    const name = threads ? `t${++threadCount}` : child.id
    const send = threads ? (message) => child.postMessage(message) : (message) => child.send(message)
    workers.set(name, { child, send })
    child.on('message', (message) => {
      process.send(message.ready ? { forked: { name, pid: child.process?.pid } } : message)
    })
    child.on('error', (error) => process.send({ error: error.stack }))
    child.on('exit', (code, signal) => process.send({ exited: name, signal }))
  }
  process.on('message', (order) => {
    if (order.fork) fork()
    else if (order.terminate) workers.get(order.terminate).child.terminate()
    else if (order.to === undefined) obey(self)(order)
    else workers.get(order.to).send(order)
  })
  process.on('disconnect', () => process.exit())
  process.send({ started: true })
}

if (!isMainThread) runMember(workerData)
else if (cluster.isWorker) runMember(JSON.parse(process.argv[2]))
else runPrimary(JSON.parse(process.argv[2] ?? '{}'))

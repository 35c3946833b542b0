'use strict'
// A cluster and its load, each in a process of its own.

const { fork } = require('node:child_process')
const path = require('node:path')

function start(script, options) {
  const child = fork(path.join(__dirname, script), [JSON.stringify(options)], {
    execArgv: options.heapMb ? [`--max-old-space-size=${options.heapMb}`] : [],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const events = []
  const waiting = new Set()
  child.on('message', (message) => {
    events.push(message)
    for (const each of waiting)
      if (each.event === message.event && waiting.delete(each)) each.resolve(message)
  })
  child.on('exit', (code) => {
    for (const each of waiting) each.reject(new Error(`${script} ended with ${code}`))
  })
  const heard = (event) => new Promise((resolve, reject) => waiting.add({ event, resolve, reject }))
  return { child, events, heard }
}

/**
 * A cluster of ours under load, and what the load and the cluster have to say in the end.
 *
 * @param {{ workers: number, rate: number, atOnce?: number, heapMb?: number, leakPerSecond?: number,
 *   recycleAt?: number, shed?: string, drainTimeout?: number, timeoutMs?: number,
 *   keepAliveTimeout?: number }} plan
 * @param {(server: { child: any, events: any[], heard: (event: string) => Promise<any> },
 *   answeredBy: (workers: number) => Promise<void>) => Promise<unknown>} during
 */
async function roll(plan, during) {
  const server = start('server.js', plan)
  const children = [server.child]
  try {
    const { port } = await server.heard('ready')
    const { rate, atOnce, timeoutMs } = plan
    const load = start('load.js', { port, rate, atOnce, timeoutMs })
    children.push(load.child)
    const answeredBy = async (workers) => {
      while (!load.events.some((message) => message.workers >= workers)) await load.heard('worker')
    }
    await during(server, answeredBy)
    load.child.send('stop')
    const { event, ...loaded } = await load.heard('ended')
    server.child.send('stop')
    const { crashed, killed } = await server.heard('stopped')
    const replaced = server.events.filter(({ event }) => event === 'replaced')
    const longestReplacementMs = Math.round(Math.max(0, ...replaced.map(({ durationMs }) => durationMs)))
    return { ...loaded, replaced: replaced.length, longestReplacementMs, crashed, killed }
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

module.exports = { roll }

'use strict'
// Requests to the service of a test, some hundred a second, until it is told to stop.

const http = require('node:http')

const EVERY_MS = 20
/** A client may choose its id, which slow requests show. */
const HOSTILE_ID = `<img src=x onerror="window.harmed = 'id'">`

/** @param {string} url @returns {{ get: (path: string) => Promise<unknown>, stop: () => Promise<void> }} */
function startLoad(url) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 20 })
  const open = new Set()
  const get = (path, headers = {}) => {
    const done = new Promise((resolve) => {
      http
        .get(url + path, { agent, headers }, (res) => res.resume().on('close', () => resolve(res.statusCode)))
        .on('error', resolve)
    })
    open.add(done)
    done.then(() => open.delete(done))
    return done
  }
  let ticks = 0
  const timer = setInterval(() => {
    if (open.size > 50) return
    ticks++
    get(`/users/${ticks}`)
    get(`/users/${ticks}`)
    if (ticks % 2 === 0) get('/orders/5')
    if (ticks % 3 === 0) get('/prices')
    if (ticks % 4 === 0) get('/reports/7', { 'X-Request-Id': HOSTILE_ID })
    if (ticks % 50 === 0) get('/hostile')
    if (ticks % 75 === 0) get('/login')
  }, EVERY_MS)
  const stop = async () => {
    clearInterval(timer)
    await Promise.all(open)
    agent.destroy()
  }
  return { get, stop }
}

module.exports = { startLoad }

'use strict'
// npm run bench -- restart [flags]
//
// Counts the requests that fail when a server is restarted by SIGTERM under load: with our drain, with
// `server.close()`, and with nothing. Prints how the requests ended. Nothing is saved.
//
//   --restarts 10        how often the server restarts
//   --rate 500           the requests a second
//   --connections 64     the connections of the load

const { readFlags } = require('../support/flags')
const { restartUnderLoad } = require('./run')

const { restarts, rate: ratePerSecond, connections } = readFlags({ restarts: 10, rate: 500, connections: 64 })

async function main() {
  for (const how of ['spillway', 'close', 'nothing']) {
    // Without a drain, a server ends only when it is killed. A single restart shows that.
    const times = how === 'close' ? 1 : restarts
    const plan = { how, restarts: times, ratePerSecond, connections, timeoutMs: 20_000 }
    const { outcomes, refused, exits } = await restartUnderLoad(plan)
    const { 200: answered = 0, ...failures } = outcomes
    const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
    console.log(
      `${how.padEnd(8)} ${times} restarts: ${answered} answered, ${failed} failed ${JSON.stringify(failures)}, ` +
        `${refused} refused and sent again, exit codes ${[...new Set(exits)].join(' ')}`
    )
  }
}

main()

'use strict'
// What a restart by SIGTERM costs its clients: with a drain, with `server.close()`, and with nothing at all.
//   npm run bench:restart [restarts] [requests per second] [connections]

const { answerHelp } = require('../support/help')
const { restartUnderLoad } = require('./run')

answerHelp()

const [restarts = 10, ratePerSecond = 500, connections = 64] = process.argv.slice(2).map(Number)

async function main() {
  for (const how of ['spillway', 'close', 'nothing']) {
    // One is enough of what does not end until it is killed.
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

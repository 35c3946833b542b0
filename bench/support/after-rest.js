'use strict'
// Asks again where the answer is that the loop rests: a profile is refused for a while after another one.

const { setTimeout: pause } = require('node:timers/promises')

/**
 * @template {{ status?: number, statusCode?: number, headers: Record<string, any> }} Answer
 * @param {() => Promise<Answer>} ask
 * @returns {Promise<Answer>}
 */
async function afterRest(ask) {
  for (;;) {
    const answer = await ask()
    if ((answer.status ?? answer.statusCode) !== 429) return answer
    await pause(1000 * Number(answer.headers['retry-after']))
  }
}

module.exports = { afterRest }

'use strict'
// What an instance finds out about the process around its requests: outgoing calls and warnings. The parts start and close together.

const { OutgoingCalls } = require('./outgoing-calls')
const { ProcessWarnings } = require('./process-warnings')

class Insight {
  outgoing
  warnings

  /**
   * @param {{ clock: import('../clock').Clock, internalErrors: InstanceType<typeof import('../requests/internal-errors').InternalErrors>,
   *   options: import('../../index.js').ResolvedOptions, askerNow: ConstructorParameters<typeof OutgoingCalls>[0]['askerNow'] }} parts
   */
  constructor({ clock, internalErrors, options, askerNow }) {
    const { insight, routes } = options
    this.outgoing = new OutgoingCalls({ clock, internalErrors, routes, askerNow, isOn: insight.outgoing })
    this.warnings = new ProcessWarnings({ clock, isOn: insight.warnings })
  }

  start() {
    this.outgoing.start()
    this.warnings.start()
  }

  close() {
    this.outgoing.close()
    this.warnings.close()
  }
}

module.exports = { Insight }

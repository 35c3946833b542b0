'use strict'
// The button that saves a report as one file. The report covers the time that the charts show, and has all
// tables. The process makes the file.

const { byId, make, setText } = require('./dom')
const { saveFile } = require('./profile-request')

/** @import { Past } from './past' */

const MESSAGE_MS = 8000

/** @param {Past} past */
function saveReportButton(past) {
  const button = make('button', { type: 'button', onclick: save }, 'Save report')
  const message = make('span', { role: 'alert' })
  byId('report').append(button, message)

  async function save() {
    button.disabled = true
    setText(message, '')
    const [from, to] = past.range
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
    const query = new URLSearchParams({
      from: String(Math.round(from * 1000)),
      to: String(Math.ceil(to * 1000)),
      zone: timeZone,
    })
    try {
      await saveFile(`report?${query}`)
    } catch (error) {
      setText(message, /** @type {Error} */ (error).message)
      setTimeout(() => setText(message, ''), MESSAGE_MS)
    }
    button.disabled = false
  }
}

module.exports = { saveReportButton }

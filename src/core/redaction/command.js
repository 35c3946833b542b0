'use strict'
// Masks the secrets in the words of a command. Unlike in a sentence, the word after `--password` is its value for certain.

const { REDACTED, isSecretInText } = require('./secret-names')
const { maskText } = require('./text')

/** Options of curl, HTTPie, ab and others whose value is `name:password`. Short ones may stand together: `-sSu`. */
const USER_OPTION = /^(?:-[a-zA-Z]*[uUaAP]|--?(?:proxy-)?user(?:name)?)$/
const PASSWORD = /^([^:/]*):(?!\/\/).+$/s
/** The same in one word: `-uname:password`. */
const USER_WORD = /^(-[uUaAP][^:/]*):(?!\/\/).+$/s

/** @param {readonly string[]} words @returns {string} in one line */
const maskCommand = (words) => words.map((word, i) => maskWord(word, words[i - 1] ?? '')).join(' ')

/** @param {string} word @param {string} before the word before it */
function maskWord(word, before) {
  if (USER_OPTION.test(before) && PASSWORD.test(word)) return word.replace(PASSWORD, `$1:${REDACTED}`)
  if (USER_WORD.test(word)) return word.replace(USER_WORD, `$1:${REDACTED}`)
  // Programs of Go, Java and PHP have long options behind one hyphen.
  if (before.startsWith('-') && !word.startsWith('-') && isSecretInText(before)) return REDACTED
  return maskText(word)
}

module.exports = { maskCommand }

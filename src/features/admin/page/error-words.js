'use strict'
// How an error and the place where it was thrown are written.

/** @import { ErrorCount } from '../../../../index.js' */

/** The type, then the message. @param {Pick<ErrorCount, 'type' | 'message'>} error */
const errorText = ({ type, message }) => (message === null ? type : `${type}: ${message}`)

/** The last folder and the file say enough. @param {string} place */
const shortPlace = (place) => place.split('/').slice(-2).join('/')

module.exports = { errorText, shortPlace }

'use strict'
// The metrics of OpenTelemetry's semantic conventions that Spillway might show, and the installed version.

/** Of calls to databases and servers, of requests, of Node, of V8 and of the process. */
const IN_SCOPE = /^(db\.client\.connection|http\.(client|server)|nodejs|process|v8js)\./

const packageVersion = () => {
  const path = require.resolve('@opentelemetry/semantic-conventions')
  return require(path.replace(/dist\/.*/, 'package.json')).version
}

module.exports = { IN_SCOPE, packageVersion }

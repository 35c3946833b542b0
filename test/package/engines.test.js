'use strict'
// What `npm ci` would warn of: a package that does not support a Node that this one supports, one that is
// deprecated, and one with an install script that is neither allowed nor denied. @prometheus-io/client states
// Node 22, and its tests here pass on 20: the lock file leaves its engines out.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const semver = require('semver')
const { allowScripts, engines } = require('../../package.json')
const { packages } = require('../../package-lock.json')

/** The oldest of each line that we test on, from where `require` of ES modules is there. */
const NODES = ['20.19.0', '22.12.0', '24.0.0']
const installed = Object.entries(packages).filter(([path]) => path !== '')

test('this package supports them', () => {
  for (const node of NODES) assert.ok(semver.satisfies(node, engines.node), node)
  for (const node of ['20.18.3', '22.11.0']) assert.ok(!semver.satisfies(node, engines.node), node)
})

for (const node of NODES) {
  test(`every package that is installed supports Node ${node}`, () => {
    const unsupporting = installed
      .filter(([, { engines: theirs }]) => theirs?.node !== undefined && !semver.satisfies(node, theirs.node))
      .map(([path, { version, engines: theirs }]) => `${path} ${version}: ${theirs.node}`)
    assert.deepEqual(unsupporting, [])
  })
}

test('none is deprecated, and none has a script that nobody has decided on', () => {
  const warned = installed
    .filter(([path, { deprecated, hasInstallScript }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      return deprecated !== undefined || (hasInstallScript === true && allowScripts[name] === undefined)
    })
    .map(([path]) => path)
  assert.deepEqual(warned, [])
})

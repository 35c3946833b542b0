'use strict'
// The version a process tells of is the one that was published.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { version } = require('../../package.json')
const { VERSION } = require('../../src/core/version')

test('src/core/version.js has the version of package.json', () => assert.equal(VERSION, version))

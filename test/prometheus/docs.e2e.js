'use strict'
// What README.md and docs/ show for Prometheus, by Prometheus's own tool: it takes each expression, rule and
// configuration.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { test } = require('node:test')
const { stringify } = require('yaml')
const { pages } = require('../docs/pages')

const blocks = pages.flatMap((page) => page.blocks.map((block) => ({ ...block, path: page.path })))
const titleOf = ({ path, line }) => `${path}, line ${line}`

function promtool(t, text, ...command) {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-docs-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'shown.yml')
  writeFileSync(file, text)
  const { status, stdout, stderr } = spawnSync('promtool', [...command, file], { encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
}

const rulesOf = (rules) => stringify({ groups: [{ name: 'docs', rules }] })

for (const block of blocks.filter(({ language }) => language === 'promql')) {
  test(`the expression of ${titleOf(block)}`, (t) => {
    promtool(t, rulesOf([{ record: 'docs', expr: block.code }]), 'check', 'rules')
  })
}

for (const block of blocks.filter(({ language }) => language === 'yaml')) {
  const { code } = block
  if (code.startsWith('- record:')) {
    test(`the rule of ${titleOf(block)}`, (t) => {
      const indented = code.replace(/^/gm, '      ')
      promtool(t, `groups:\n  - name: docs\n    rules:\n${indented}`, 'check', 'rules')
    })
  } else if (/^(scrape_configs|rule_files):/.test(code)) {
    test(`the configuration of ${titleOf(block)}`, (t) => {
      promtool(t, code, 'check', 'config', '--syntax-only')
    })
  }
}

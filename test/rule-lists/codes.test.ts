import { expect, test } from 'vitest'
import { findingCodes, type FindingCode } from '../../src/core/rule-lists/codes.ts'
import { readFileSync } from 'node:fs'
import { diagnosticDescriptions } from '../../src/outlets/report/generated/diagnostics.ts'

test('every code is a documented code of diagnostics, with the same advice', () => {
  const page = readFileSync('docs/reference/errors.md', 'utf8').replaceAll(/\s+/g, ' ')
  for (const [code, { advice }] of Object.entries(findingCodes)) {
    const description = diagnosticDescriptions[code as FindingCode]
    expect(description).not.toBe('')
    expect(page).toContain(`### ${code} ${description} Fix: ${advice} `)
  }
})

test('a code never matching comes before those that an earlier rule explains', () => {
  const codes = Object.keys(findingCodes) as FindingCode[]
  expect(codes.indexOf('rule-never-matches')).toBeLessThan(codes.indexOf('rule-shadowed'))
})

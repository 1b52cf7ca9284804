import { expect, test } from 'vitest'
import { findingCodes, type FindingCode } from '../../src/core/rule-lists/codes.ts'
import { diagnosticDescriptions } from '../../src/outlets/report/generated/diagnostics.ts'

test('every code is a documented code of diagnostics, with the same description', () => {
  for (const [code, { description }] of Object.entries(findingCodes))
    expect(diagnosticDescriptions).toHaveProperty(code, description)
})

test('a code never matching comes before those that an earlier rule explains', () => {
  const codes = Object.keys(findingCodes) as FindingCode[]
  expect(codes.indexOf('rule-never-matches')).toBeLessThan(codes.indexOf('rule-shadowed'))
})

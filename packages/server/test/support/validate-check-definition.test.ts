import { describe, expect, it } from 'vitest'
import type { CheckDefinition } from '../../src/posture/checks/check-definition.ts'
import { validateCheckDefinition } from './validate-check-definition.ts'

const valid: CheckDefinition = {
  slug: 'firewall-on',
  revision: 1,
  name: 'Firewall',
  description: 'The firewall is on.',
  issueTitle: 'The firewall is off',
  platforms: ['darwin'],
  topics: ['network'],
  tags: ['Important'],
  queries: { darwin: "SELECT 'PASS' AS KOLIDE_CHECK_STATUS" },
  rationaleTemplate: 'Because.',
  fixInstructionsTemplate: 'Do it on {{ device.name }}.',
  privacyInfo: 'Whether it is on.',
  defaultStrategy: 'warn_then_block',
  graceDays: 7,
  strategyReason: 'Easy to fix.',
  authCheckRunShelfLifeSeconds: 3_600,
}

describe('validateCheckDefinition', () => {
  it('finds nothing wrong with a valid definition', () => {
    expect(validateCheckDefinition(valid)).toEqual([])
  })

  it.each<[string, Partial<CheckDefinition>]>([
    ['slug', { slug: 'Firewall On' }],
    ['slug', { slug: 'custom-firewall' }],
    ['revision', { revision: 0 }],
    ['name', { name: ' ' }],
    ['description', { description: 'x'.repeat(501) }],
    ['topics', { topics: [] }],
    ['tags', { tags: ['Info', 'Info'] }],
    ['platforms', { platforms: [], queries: {} }],
    ['queries.linux', { platforms: ['darwin', 'linux'] }],
    ['queries.darwin', { queries: { darwin: 'DELETE FROM KOLIDE_CHECK_STATUS' } }],
    ['queries.darwin', { queries: { darwin: 'SELECT 1' } }],
    ['queries.darwin', { primaryKeyColumn: 'path' }],
    ['rationaleTemplate', { rationaleTemplate: '{% if %}' }],
    ['fixInstructionsTemplate', { fixInstructionsTemplate: '{{ nobody.knows }}' }],
    ['graceDays', { graceDays: 0 }],
    ['graceDays', { defaultStrategy: 'notify_only' }],
    ['graceDays', { graceDays: 1.5 }],
    ['authCheckRunShelfLifeSeconds', { authCheckRunShelfLifeSeconds: 59 }],
  ])('names %s when it breaks a rule', (field, change) => {
    const problems = validateCheckDefinition({ ...valid, ...change })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(new RegExp(`^${field.replace('.', '\\.')}:`))
  })
})

import { expect, it } from 'vitest'
import { CHECK_CATALOGUE } from '../src/posture/checks/catalogue/index.ts'
import { findExampleRows } from '../src/posture/checks/catalogue/example-rows.ts'
import { CASES, runOnDevice } from './support/simulated-checks.ts'

it.each(CASES)(
  'the example of $slug on $platform has the columns of an answer of $flavor',
  (check) => {
    const [answer = {}] = runOnDevice(check.flavor, check.sql)
    const example = findExampleRows(check.slug)[check.platform] ?? {}
    expect(Object.keys(example)).toEqual(Object.keys(answer))
    expect(example['KOLIDE_CHECK_STATUS']).toBe('FAIL')
  },
)

it('there is an example for every platform of every check, and of nothing else', () => {
  for (const { slug, platforms } of CHECK_CATALOGUE) {
    expect(Object.keys(findExampleRows(slug)).toSorted()).toEqual([...platforms].toSorted())
  }
  expect(findExampleRows('custom-check')).toEqual({})
  expect(findExampleRows('constructor')).toEqual({})
})

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { LIVE_COLLECTIONS } from '../../src/schema/live-topics.ts'

it('names what it has read as live messages name it', () => {
  const path = new URL('../../../console/src/api/query-keys.ts', import.meta.url)
  const [, union = ''] = /type LiveCollection =([^/]*)/.exec(readFileSync(path, 'utf8')) ?? []
  const names = [...union.matchAll(/'(\w+)'/g)].map(([, name]) => name)
  expect(names).toEqual(Object.keys(LIVE_COLLECTIONS))
})

import { expect, test, vi } from 'vitest'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { DoubtfulClaims } from './doubtful-claims.ts'

const failure = (code: string) => Object.assign(new Error('text'), { code })

test('why nothing can be claimed is logged once, and again when that is something else or comes again', () => {
  const warn = vi.fn()
  const claims = new DoubtfulClaims('1' as DestinationId)
  const fail = (error: unknown) => claims.logFailing(error, { warn })
  const [away, locked] = [failure('ECONNREFUSED'), failure('55P03')]
  for (const error of [away, away, locked, locked]) fail(error)
  const [bug, cut] = [new TypeError('text'), new Error('text')]
  for (const error of [bug, bug, cut, cut, failure('55P03')]) fail(error)
  claims.endFailing()
  fail(locked)
  const logged = warn.mock.calls.map(([about]) => (about as { err: unknown }).err)
  expect(logged).toEqual([away, locked, bug, cut, failure('55P03'), locked])
})

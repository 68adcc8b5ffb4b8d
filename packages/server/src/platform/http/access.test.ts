import { describe, expect, it } from 'vitest'
import { checkStepUp } from './access.ts'
import { operation, type CallerSession } from './operation.ts'

const SESSION: CallerSession = {
  id: '1',
  email: 'ada@example.com',
  accessLevel: 'full',
  restrictions: [],
  steppedUpAt: null,
}

const asking = operation({
  method: 'GET',
  path: '/secret',
  access: { permission: null },
  stepUp: true,
  summary: 'Show a secret',
  responses: {},
  handler: async () => Promise.resolve({ status: 204 }),
})

const check = (session?: CallerSession, isUnderWay = false) => {
  const caller = { kind: 'a', id: '1', name: 'Ada', permissions: new Set<string>() }
  return checkStepUp(asking, {
    caller: session === undefined ? caller : { ...caller, session },
    version: undefined,
    isUnderWay,
  })
}

describe('the check of a step-up', () => {
  it('refuses a session without one, and nobody else', () => {
    expect(() => check(SESSION)).toThrow(
      expect.objectContaining({ code: 'step_up_required' }) as Error,
    )
    expect(() => check({ ...SESSION, steppedUpAt: new Date() })).not.toThrow()
    expect(() => check()).not.toThrow()
  })

  it('breaks off no answer that has begun', () => {
    expect(() => check(SESSION, true)).not.toThrow()
  })
})

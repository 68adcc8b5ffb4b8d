import * as ssf from '@heliograph/ssf'
import { expect, test } from 'vitest'
import { isRequested, requestedTypes } from './unrequested-event-store.ts'

test('a stream gets every type of event about itself unasked, and no other', () => {
  const stream = { eventsRequested: [ssf.TOKEN_CLAIMS_CHANGE] }
  const types = [ssf.TOKEN_CLAIMS_CHANGE, ...ssf.STREAM_EVENT_TYPES]
  expect(ssf.STREAM_EVENT_TYPES).toEqual([ssf.VERIFICATION, ssf.STREAM_UPDATED])
  expect(requestedTypes(stream)).toEqual(types)
  for (const type of types) expect(isRequested(stream, type)).toBe(true)
  expect(isRequested(stream, ssf.SESSION_REVOKED)).toBe(false)
})

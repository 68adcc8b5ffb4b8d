import { describe, expect, it, vi } from 'vitest'
import type { Stream } from '../api/generated/types.gen.ts'
import { toFormValues, toStreamChange, type StreamFormValues } from './form-values.ts'

// Whether somebody uses the page is seen by a browser's events.
vi.mock('../api/attendance.ts', () => ({ isUnattended: () => false }))

const OAUTH = {
  token_endpoint: 'https://id.example.com/token',
  client_id: 'a',
  scope: null,
  auth_method: 'client_secret_basic',
  client_secret_set: true,
} as const
const MTLS = {
  subject: 'CN=a',
  fingerprint_sha256: 'ab',
  not_after: '2027-01-01T00:00:00Z',
  private_key_set: true,
}
const NONE = { authorization_header: null, oauth: null, mtls: null }

const entered: Partial<StreamFormValues> = {
  header: 'Bearer b',
  tokenEndpoint: OAUTH.token_endpoint,
  clientId: 'a',
  clientSecret: 'new',
  certificate: 'certificate',
  privateKey: 'key',
}

/** What is sent where the credential of a kind is entered for a stream that has some. */
function toDelivery(
  credential: StreamFormValues['credential'],
  set: Pick<Stream['delivery'], 'oauth' | 'mtls'> & { readonly hasHeader?: boolean },
  typed: Partial<StreamFormValues> = entered,
) {
  const { hasHeader = false, ...credentials } = set
  const stream = {
    name: 'a',
    delivery_type: 'push',
    delivery: { endpoint_url: 'https://a.example.com/events', ...credentials },
    events_requested: [],
    reason_fields: [],
    authorization_header_set: hasHeader,
  } as unknown as Stream
  const before = toFormValues(stream)
  return toStreamChange({ ...before, ...typed, credential }, before, stream).delivery
}

describe('the credentials of a stream', () => {
  it('stay beside one of another kind that is given anew', () => {
    const oauth = {
      token_endpoint: OAUTH.token_endpoint,
      client_id: 'a',
      client_secret: 'new',
      scope: null,
      auth_method: OAUTH.auth_method,
    }
    const mtls = { certificate: 'certificate', private_key: 'key' }
    expect(toDelivery('oauth', { oauth: OAUTH, mtls: MTLS })).toEqual({ oauth })
    expect(toDelivery('mtls', { oauth: OAUTH, mtls: MTLS })).toEqual({ mtls })
    expect(toDelivery('header', { mtls: MTLS, hasHeader: true })).toEqual({
      authorization_header: 'Bearer b',
    })
  })

  it('give way to one of a kind that was not set, and to none', () => {
    expect(toDelivery('mtls', { oauth: OAUTH })).toMatchObject({
      ...NONE,
      mtls: { private_key: 'key' },
    })
    expect(toDelivery('header', { oauth: OAUTH, mtls: MTLS })).toEqual({
      ...NONE,
      authorization_header: 'Bearer b',
    })
    expect(toDelivery('none', { oauth: OAUTH, mtls: MTLS })).toEqual(NONE)
    expect(toDelivery('keep', { oauth: OAUTH, mtls: MTLS })).toBeUndefined()
  })

  it('keep what is not a secret where the secret is given anew, and how the service signs in', () => {
    const kept = {
      token_endpoint: OAUTH.token_endpoint,
      client_id: 'a',
      scope: 'events',
      auth_method: 'client_secret_post',
    } as const
    const oauth = { ...OAUTH, ...kept }
    expect(toDelivery('oauth', { oauth }, { clientSecret: 'new' })?.oauth).toEqual({
      ...kept,
      client_secret: 'new',
    })
  })

  it('stay signed by a key until a secret takes its place', () => {
    const oauth = { ...OAUTH, auth_method: 'private_key_jwt' } as const
    expect(toDelivery('oauth', { oauth }, {})?.oauth).toMatchObject({
      auth_method: 'private_key_jwt',
    })
    const given = toDelivery('oauth', { oauth }, { clientSecret: 'new' })?.oauth
    expect(given).toMatchObject({ client_secret: 'new' })
    expect(given).not.toHaveProperty('auth_method')
  })
})

import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { DEVICE_COMPLIANCE_CHANGE, VERIFICATION } from '@heliograph/ssf'
import { exportSPKI, importJWK, type CryptoKey } from 'jose'
import { createSetVerifier, SetVerificationError, type SetVerifier } from '../src/index.ts'
import {
  AUDIENCE,
  createTestKey,
  createTestVerifier,
  forgeSet,
  goodClaims,
  ISSUER,
  jwksOf,
  NOW_MS,
  signSet,
  type TestKey,
} from './support/signing.ts'

let key: TestKey
let stranger: TestKey
let verifier: SetVerifier

beforeAll(async () => {
  key = await createTestKey('k1')
  stranger = await createTestKey('k2')
  verifier = createTestVerifier(key)
})

async function refusalOf(token: string): Promise<SetVerificationError> {
  const error: unknown = await verifier.verify(token).catch((caught: unknown) => caught)
  if (error instanceof SetVerificationError) return error
  throw new Error('the SET was not refused')
}

describe('a good SET', () => {
  test('is verified with its subject, event and claims', async () => {
    expect(await verifier.verify(await signSet(key))).toMatchObject({
      iss: ISSUER,
      aud: [AUDIENCE],
      jti: 'jti-1',
      txn: 'txn-1',
      subjectPlace: 'sub_id',
      subject: { device: { sub: 'd1' } },
      event: { isKnown: true, type: DEVICE_COMPLIANCE_CHANGE },
      header: { alg: 'RS256', kid: 'k1' },
    })
  })

  test('of the draft layout is verified by its inner subject', async () => {
    const token = await signSet(key, goodClaims({ layout: 'draft' }))
    expect(await verifier.verify(token)).toMatchObject({
      subjectPlace: 'event',
      subject: { format: 'complex' },
    })
  })

  test.each(['PS256', 'ES256', 'Ed25519'])('signed with %s is verified', async (alg) => {
    const other = await createTestKey('k3', alg)
    const verified = await createTestVerifier(other).verify(await signSet(other))
    expect(verified.header.alg).toBe(alg)
  })

  test('without kid is verified when one of several keys made it', async () => {
    const token = await signSet(key, goodClaims(), { kid: undefined })
    expect((await createTestVerifier(stranger, key).verify(token)).jti).toBe('jti-1')
  })
})

describe('a SET is refused with the code of RFC 8935 section 2.4', () => {
  const claimCases: [string, string, Record<string, unknown>][] = [
    ['invalid_issuer', 'another issuer', { iss: 'https://other.example.com' }],
    ['invalid_audience', 'another audience', { aud: 'https://other.example.com' }],
    ['invalid_request', 'a future iat', { iat: NOW_MS / 1000 + 61 }],
    ['invalid_request', 'an exp claim', { exp: NOW_MS / 1000 + 600 }],
    ['invalid_request', 'a sub claim', { sub: 'user' }],
    ['invalid_request', 'no jti', { jti: undefined }],
    ['invalid_request', 'no subject', { sub_id: undefined }],
    ['invalid_request', 'two events', { events: { [VERIFICATION]: {}, 'urn:x:y': {} } }],
    ['invalid_request', 'a malformed event', { events: { [DEVICE_COMPLIANCE_CHANGE]: {} } }],
  ]
  test.each(claimCases)('%s for %s', async (err, _title, change) => {
    const token = await signSet(key, { ...goodClaims(), ...change })
    expect((await refusalOf(token)).err).toBe(err)
  })

  test('invalid_request for a wrong or missing typ', async () => {
    for (const typ of ['JWT', undefined]) {
      expect((await refusalOf(await signSet(key, goodClaims(), { typ }))).err).toBe(
        'invalid_request',
      )
    }
  })

  test('invalid_request for claims that are not a JSON object', async () => {
    for (const text of ['not json', '[]', 'null']) {
      expect((await refusalOf(await signSet(key, text))).err).toBe('invalid_request')
    }
  })

  test('invalid_request for what is no compact JWS', async () => {
    for (const token of [
      '',
      'a',
      'a.b',
      'a.b.c.d',
      '{"payload":""}',
      `x.${'y'.repeat(300_000)}.z`,
    ]) {
      expect((await refusalOf(token)).err).toBe('invalid_request')
    }
  })

  test('invalid_key for an unknown kid', async () => {
    expect((await refusalOf(await signSet(stranger))).err).toBe('invalid_key')
  })

  test('authentication_failed for a signature of another key under a known kid', async () => {
    const token = await signSet({ ...stranger, kid: 'k1' })
    expect((await refusalOf(token)).err).toBe('authentication_failed')
  })

  test('authentication_failed for claims changed after signing', async () => {
    const [header, , signature] = (await signSet(key)).split('.')
    const payload = Buffer.from(JSON.stringify(goodClaims({ jti: 'jti-2' }))).toString('base64url')
    const token = `${header ?? ''}.${payload}.${signature ?? ''}`
    expect((await refusalOf(token)).err).toBe('authentication_failed')
  })
})

describe('a token that nobody signed is refused', () => {
  test('when its algorithm is none, with and without a signature part', async () => {
    for (const alg of ['none', 'None', 'NONE']) {
      for (const signature of ['', 'AAAA']) {
        const token = forgeSet({ alg, typ: 'secevent+jwt' }, goodClaims(), signature)
        expect(await refusalOf(token)).toMatchObject({
          err: 'invalid_key',
          message: 'the signature algorithm is not accepted',
        })
      }
    }
  })

  test('when it is an HMAC with the public key as the secret', async () => {
    const publicKey = (await importJWK(key.publicJwk, 'RS256', { extractable: true })) as CryptoKey
    const unsigned = forgeSet({ alg: 'HS256', kid: 'k1', typ: 'secevent+jwt' }, goodClaims())
    for (const secret of [await exportSPKI(publicKey), JSON.stringify(key.publicJwk)]) {
      const signature = createHmac('sha256', secret)
        .update(unsigned.slice(0, -1))
        .digest('base64url')
      expect((await refusalOf(unsigned + signature)).err).toBe('invalid_key')
    }
  })

  test('and a symmetric algorithm stays refused when it is asked for', () => {
    const options = { issuer: ISSUER, audience: AUDIENCE, keys: { jwks: jwksOf(key) } }
    expect(() => createSetVerifier({ ...options, algorithms: ['HS256', 'none'] })).toThrow(
      TypeError,
    )
  })
})

describe('a verifier', () => {
  test.each([
    ['an issuer of a variable that is not set', { issuer: undefined }],
    ['an empty issuer', { issuer: ' ' }],
    ['an audience of a variable that is not set', { audience: undefined }],
    ['an empty audience', { audience: '' }],
    ['no audience among them', { audience: [] }],
    ['an empty audience beside another', { audience: [AUDIENCE, ''] }],
  ])('is not made with %s', (_title, names: object) => {
    const options = { issuer: ISSUER, audience: AUDIENCE, keys: { jwks: jwksOf(key) } }
    expect(() => createSetVerifier({ ...options, ...names })).toThrow(
      /^(issuer|audience) must be given and not be empty$/,
    )
  })
})

describe('a complex subject with critical members', () => {
  const critical = { criticalSubjectMembers: ['user', 'session'] }
  const verify = async (token: string, interpretedSubjectMembers?: readonly string[]) =>
    createSetVerifier({
      issuer: ISSUER,
      audience: AUDIENCE,
      keys: { jwks: jwksOf(key) },
      nowMs: () => NOW_MS,
      ...critical,
      ...(interpretedSubjectMembers && { interpretedSubjectMembers }),
    }).verify(token)

  test('ssf-T011 is refused when one of them is not interpreted', async () => {
    const token = await signSet(key)
    const refused = { err: 'invalid_request', message: expect.stringContaining('user') as string }
    await expect(verify(token)).rejects.toMatchObject(refused)
    await expect(verify(token, ['device', 'session'])).rejects.toMatchObject(refused)
  })

  test('is taken when those that are there are interpreted', async () => {
    expect((await verify(await signSet(key), ['user'])).jti).toBe('jti-1')
  })

  test('does not concern simple subjects', async () => {
    const subject = { format: 'email', email: 'user@example.com' } as const
    expect((await verify(await signSet(key, goodClaims({ subject })))).jti).toBe('jti-1')
  })
})

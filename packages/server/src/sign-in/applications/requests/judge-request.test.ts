import { describe, expect, it } from 'vitest'
import { judgeRequest } from './judge-request.ts'

const ISSUER = 'https://heliograph.example.com/sign-in'
const REDIRECT = 'https://wiki.example.com/callback'
const APPLICATION = {
  clientId: 'hga_wiki',
  redirectUris: [REDIRECT],
  mode: 'step_up',
  upstreamProviderId: null,
  tokenEndpointAuthMethod: 'client_secret_basic',
} as const

const GOOD = {
  client_id: 'hga_wiki',
  redirect_uri: REDIRECT,
  response_type: 'code',
  scope: 'openid email',
  login_hint: 'ada@example.com',
}

const wrongOf = (
  changes: Readonly<Record<string, string | undefined>>,
  application: Partial<Parameters<typeof judgeRequest>[1]> = {},
) => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries<string | undefined>({ ...GOOD, ...changes })) {
    if (value !== undefined) query.set(name, value)
  }
  const url = `${ISSUER}/authorize?${query.toString()}`
  return judgeRequest(url, { ...APPLICATION, ...application }, ISSUER)
    .filter(({ fits }) => !fits)
    .map(({ field }) => field)
}

describe('judgeRequest', () => {
  it('finds nothing wrong with what would be taken', () => {
    expect(wrongOf({})).toEqual([])
    expect(wrongOf({ code_challenge: 'x', code_challenge_method: 'S256' })).toEqual([])
    expect(wrongOf({ login_hint: undefined, id_token_hint: 'x' })).toEqual([])
    expect(wrongOf({ login_hint: undefined }, { mode: 'broker' })).toEqual([])
    expect(wrongOf({ login_hint: undefined }, { upstreamProviderId: '1' })).toEqual([])
  })

  it.each([
    [{ client_id: 'hga_other' }, ['client_id']],
    [{ redirect_uri: `${REDIRECT}/` }, ['redirect_uri']],
    [{ redirect_uri: undefined }, ['redirect_uri']],
    [{ response_type: 'id_token' }, ['response_type']],
    [{ scope: 'email' }, ['scope']],
    [{ code_challenge: 'x' }, ['code_challenge_method']],
    [{ code_challenge: 'x', code_challenge_method: 'plain' }, ['code_challenge_method']],
    [{ login_hint: 'ada' }, ['login_hint']],
    [{ login_hint: undefined }, ['login_hint']],
    [{ prompt: 'none' }, ['prompt']],
    [{ claims: '[]' }, ['claims']],
    [{ claims: '{' }, ['claims']],
  ])('names the wrong field of %j', (changes, fields) => {
    expect(wrongOf(changes)).toEqual(fields)
  })

  it('asks applications without a secret for PKCE', () => {
    expect(wrongOf({}, { tokenEndpointAuthMethod: 'none' })).toEqual(['code_challenge'])
  })

  it('says what was given and what is expected, cut off', () => {
    const given = `https://wiki.example.com/${'a'.repeat(300)}`
    const url = `${ISSUER}/authorize?redirect_uri=${given}`
    const found = judgeRequest(url, APPLICATION, ISSUER).find(
      ({ field }) => field === 'redirect_uri',
    )
    expect(found).toMatchObject({ given: given.slice(0, 200), expected: REDIRECT })
  })

  it('looks no further into what was pushed', () => {
    const url = `https://other.example.com/authorize?client_id=hga_wiki&request_uri=urn:x`
    const found = judgeRequest(url, APPLICATION, ISSUER)
    expect(found.map(({ field, fits }) => [field, fits])).toEqual([
      ['authorization_endpoint', false],
      ['client_id', true],
    ])
  })
})

import { expect, it } from 'vitest'
import { newSecret, newUuid } from '../../platform/ids.ts'
import {
  findForeignReason,
  toProofCookie,
  writeProofCookie,
  type ProbeRequest,
} from './probe-request-input.ts'
import { hashProofSecret } from './start-proof.ts'

const BASE_URL = 'https://trust.example'
const [token, cookie] = [newSecret(), newSecret()]
const attemptId = newUuid()
const lease = { attemptId, tokenHash: hashProofSecret(token), cookieHash: hashProofSecret(cookie) }
const name = toProofCookie(attemptId, BASE_URL).name

const reasonFor = (changes: Partial<ProbeRequest>, headers: ProbeRequest['headers'] = {}) =>
  findForeignReason(
    {
      method: 'GET',
      url: `/sign-in/probe/${token}`,
      ...changes,
      headers: {
        origin: BASE_URL,
        'sec-fetch-site': 'same-site',
        cookie: `other=1; ${name}=${cookie}`,
        ...headers,
      },
    },
    lease,
    BASE_URL,
  )

it('takes the request of the page that signs in, also of a browser that says nothing of its site', () => {
  expect(reasonFor({})).toBeUndefined()
  expect(reasonFor({}, { 'sec-fetch-site': undefined })).toBeUndefined()
})

it('takes no other', () => {
  expect(reasonFor({ method: 'POST' })).toBe('method')
  expect(reasonFor({ url: '/favicon.ico' })).toBe('path')
  expect(reasonFor({}, { origin: 'https://trust.example.evil.example' })).toBe('origin')
  expect(reasonFor({}, { origin: undefined })).toBe('origin')
  expect(reasonFor({}, { 'sec-fetch-site': 'cross-site' })).toBe('site')
  expect(reasonFor({}, { cookie: undefined })).toBe('cookie')
  expect(reasonFor({}, { cookie: `${name}=${newSecret()}` })).toBe('cookie')
  expect(reasonFor({ url: `/sign-in/probe/${newSecret()}` })).toBe('token')
})

it('gives each attempt a cookie that no page of another site can have sent', () => {
  const written = writeProofCookie(toProofCookie(attemptId, BASE_URL), cookie, 60)
  expect(written).toBe(
    `__Host-heliograph-proof-${attemptId.slice(0, 8)}=${cookie}; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Strict`,
  )
  expect(toProofCookie(newUuid(), BASE_URL).name).not.toBe(name)
})

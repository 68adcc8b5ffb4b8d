import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { toNextPage } from './next-page.ts'

const HERE = 'https://trust.example.com'

beforeEach(() => vi.stubGlobal('location', { origin: HERE }))
afterEach(() => vi.unstubAllGlobals())

describe('the page that a step goes on to', () => {
  it.each([
    ['/console/', '/console/'],
    ['/console/checks?state=failing#first', '/console/checks?state=failing#first'],
    ['/console/devices/../checks', '/console/checks'],
    ['/console//elsewhere.example.com', '/console//elsewhere.example.com'],
    [`${HERE}/console/checks`, '/console/checks'],
  ])('is one of the console: %s', (next, page) => {
    expect(toNextPage(next)).toBe(page)
  })

  it.each([
    '/console/../sign-in/me',
    '/console/%2e%2e/sign-in/me',
    '/console/.%2E/sign-in/me',
    '/console\\..\\sign-in/me',
    '/console/.\t./sign-in/me',
    '/consoles/',
    '/console',
    '//console/checks',
    '//elsewhere.example.com/console/',
    'https://elsewhere.example.com/console/',
    `blob:${HERE}/console/`,
    'javascript:alert(1)',
    'https://',
    '',
    undefined,
    1,
  ])('is no other one: %j', (next) => {
    expect(toNextPage(next)).toBeUndefined()
  })
})

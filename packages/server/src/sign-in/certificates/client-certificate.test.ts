import { beforeAll, describe, expect, it } from 'vitest'
import {
  issueClientCertificate,
  type TestCertificate,
} from '../../../test/support/client-certificates.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { readClientCertificate } from './client-certificate-input.ts'

const AT = new Date('2026-01-02T03:04:05Z')
const HEADER = { name: 'X-Client-Cert', proxies: ['10.0.0.0/8', '::1'] }

let mine: TestCertificate
let other: TestCertificate

beforeAll(async () => {
  mine = await issueClientCertificate('ada-mbp', AT)
  other = await issueClientCertificate('bob-mbp', AT)
})

const read = (value: string | undefined, { peerAddress = '10.1.2.3', at = AT } = {}) =>
  readClientCertificate({ headers: { 'x-client-cert': value }, peerAddress }, HEADER, at)

describe('the certificate that a proxy tells', () => {
  it.each([
    ['nginx', () => encodeURIComponent(mine.pem)],
    ['Traefik', () => encodeURIComponent(mine.base64)],
    ['Caddy and HAProxy', () => mine.base64],
    ['RFC 9440', () => `:${mine.base64}:`],
    ['Envoy', () => `Hash=abc;Cert="${encodeURIComponent(mine.pem)}";Subject="CN=a,O=b"`],
  ])('is read as %s writes it', (_proxy, toHeader) => {
    expect(read(toHeader())).toMatchObject({ sha1: mine.sha1, subject: 'CN=ada-mbp' })
  })

  it.each([
    ['is missing', () => undefined, 'missing'],
    ['is empty', () => '', 'missing'],
    ['is missing at Caddy', () => '{http.request.tls.client.certificate_der_base64}', 'missing'],
    ['is missing at Apache', () => '(null)', 'missing'],
    ['is none', () => 'CN=ada-mbp', 'invalid'],
    ['is cut', () => mine.base64.slice(0, -40), 'invalid'],
    [
      'is followed by something',
      () =>
        Buffer.concat([Buffer.from(mine.base64, 'base64'), Buffer.from('x')]).toString('base64'),
      'invalid',
    ],
    ['was sent twice', () => `${mine.base64}, ${other.base64}`, 'invalid'],
    ['comes with another', () => encodeURIComponent(mine.pem + other.pem), 'invalid'],
    [
      'was told by two Envoys',
      () => `Cert="${encodeURIComponent(mine.pem)}",By=x;Cert="${encodeURIComponent(other.pem)}"`,
      'invalid',
    ],
    ['is broken percent-encoding', () => '%zz', 'invalid'],
    ['is huge', () => 'A'.repeat(13_000), 'invalid'],
  ])('is none where it %s', (_what, toHeader, expected) => {
    expect(read(toHeader())).toBe(expected)
  })

  it('is believed of the named proxies alone', () => {
    for (const peerAddress of ['192.0.2.1', '11.0.0.1', '::2', '']) {
      expect(read(mine.base64, { peerAddress })).toBe('missing')
    }
    expect(read(mine.base64, { peerAddress: '::ffff:10.0.0.1' })).toMatchObject({ sha1: mine.sha1 })
  })

  it('is none before its time, after it, and where it is the one of an authority', async () => {
    expect(read(mine.base64, { at: new Date(AT.getTime() - 2 * DAY_MS) })).toBe('invalid')
    expect(read(mine.base64, { at: new Date(AT.getTime() + 2 * DAY_MS) })).toBe('invalid')
    expect(read((await issueClientCertificate('CA', AT, true)).base64)).toBe('invalid')
  })
})

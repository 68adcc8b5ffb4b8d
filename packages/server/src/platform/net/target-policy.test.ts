import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyAddress } from './address-ranges.ts'
import {
  allowsEveryAddress,
  checkTargetUrl,
  hostOf,
  parseAllowedTargets,
  type TargetPolicy,
} from './target-policy.ts'
import { publicTargetsOnly } from '../../../test/support/public-targets-only.ts'

function policyOf(text: string): TargetPolicy {
  const allowed = parseAllowedTargets(text)
  if (!allowed.ok) throw new Error(allowed.reason)
  return allowed.policy
}

function reasonOf(url: string, policy: TargetPolicy = publicTargetsOnly): string | undefined {
  const check = checkTargetUrl(url, policy)
  return check.ok ? undefined : check.reason
}

const LOOPBACK_SPELLINGS = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0x0.0x0.0x1',
  '0x7f.1',
  '017700000001',
  '0177.0.0.01',
  '0177.1',
  '127.000.000.001',
  '%31%32%37.0.0.1',
  '127%2e0.0.1',
  '１２７.0.0.1',
  '127。0。0。1',
  '①②⑦.0.0.1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:127.0.0.1]',
  '[::FFFF:7F00:1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
]

const OTHER_TARGETS = [
  '0',
  '0.0.0.0',
  '[::]',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '[::ffff:169.254.169.254]',
  '[fd00:ec2::254]',
  '10.0.0.1',
  '012.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[fe80::1]',
  '[fc00::1]',
  '[ff02::1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'ｌｏｃａｌｈｏｓｔ',
  'metadata.google.internal',
  'printer.local',
  'router.lan',
  'db.home.arpa',
  'intranet',
  'kubernetes.default.svc.cluster.local',
]

const NOT_WELL_FORMED = [
  'https://[fe80::1%25eth0]/',
  'https://[fe80::1%eth0]/',
  'https://[::1/',
  'https://1.2.3.4.5/',
  'https://256.256.256.256/',
  'https://0x100000000/',
  'https://a b.example.com/',
  'https://',
  '/relative',
  'example.com',
  '',
]

describe('checkTargetUrl', () => {
  it.each(LOOPBACK_SPELLINGS)('refuses loopback spelled %s', (host) => {
    expect(reasonOf(`https://${host}/hook`)).toMatch(
      /is (loopback|transitional) and not allow-listed/,
    )
  })

  it.each(OTHER_TARGETS)('refuses %s, which is not public', (host) => {
    expect(reasonOf(`https://${host}/hook`)).toMatch(/not allow-listed/)
  })

  it.each(NOT_WELL_FORMED)('refuses %j, which is no well-formed URL', (url) => {
    expect(reasonOf(url)).toBe('The URL is not a well-formed absolute URL')
  })

  it.each([
    ['http://example.com/', /begin with https/],
    ['ftp://example.com/', /begin with https/],
    ['file:///etc/passwd', /begin with https/],
    ['gopher://example.com/', /begin with https/],
    ['javascript:alert(1)', /begin with https/],
    ['https://user@example.com/', /user name or password/],
    ['https://user:secret@example.com/', /user name or password/],
    ['https://example.com@127.0.0.1/', /user name or password/],
    ['https://example.com/#part', /fragment/],
    ['https://example.com/#', /fragment/],
    ['https://example.com:22/', /Port 22 is not allowed; use 443 or 8443/],
    ['https://example.com:80/', /Port 80 is not allowed/],
    ['https://example.com:9200/', /Port 9200 is not allowed/],
    ['https://example..com/', /not a valid host name/],
    ['https://example.com../', /not a valid host name/],
    ['https://.example.com/', /not a valid host name/],
    ['https://./', /not a valid host name/],
    [`https://${'a'.repeat(64)}.example.com/`, /not a valid host name/],
    [`https://example.com/${'a'.repeat(2_030)}`, /longer than 2048/],
  ])('refuses %s', (url, reason) => {
    expect(reasonOf(url)).toMatch(reason)
  })

  it('never repeats a password in its reason', () => {
    expect(reasonOf('https://user:hunter2@example.com/')).not.toContain('hunter2')
  })

  it.each([
    ['https://example.com', 'https://example.com/'],
    ['https://EXAMPLE.com/A?b=c', 'https://example.com/A?b=c'],
    ['https://example.com./x', 'https://example.com/x'],
    ['https://example.com:443/', 'https://example.com/'],
    ['https://example.com:8443/', 'https://example.com:8443/'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://134744072/', 'https://8.8.8.8/'],
    ['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]/'],
  ])('accepts %s as %s', (url, normalised) => {
    const check = checkTargetUrl(url, publicTargetsOnly)
    expect(check.ok && check.url.href).toBe(normalised)
  })

  it('accepts an IPv4 literal in whatever spelling exactly when its address is public', () => {
    const part = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(
        fc.tuple(part, part, part, part),
        fc.integer({ min: 0, max: 3 }),
        (parts, spelling) => {
          const [a, b, c, d] = parts
          const number = ((a * 256 + b) * 256 + c) * 256 + d
          const host = [
            parts.join('.'),
            String(number),
            `0x${number.toString(16)}`,
            `[::ffff:${parts.join('.')}]`,
          ][spelling]
          expect(checkTargetUrl(`https://${host}/`, publicTargetsOnly).ok).toBe(
            classifyAddress(parts.join('.')) === 'public',
          )
        },
      ),
    )
  })
})

describe('the allow-list', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8080/'],
    ['127.0.0.1', 'http://2130706433:8080/'],
    ['127.0.0.1', 'https://[::ffff:127.0.0.1]:1234/'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/'],
    ['::1', 'http://[::1]:8080/'],
    ['[::1]:8080', 'http://[::1]:8080/'],
    ['::ffff:10.0.0.1', 'http://10.0.0.1/'],
    ['10.0.0.0/8', 'http://10.20.30.40:9000/'],
    ['fd00::/8', 'https://[fd12::1]:9000/'],
    ['receiver', 'http://receiver:3000/'],
    [' receiver.corp , 10.0.0.0/8', 'http://receiver.corp/'],
    ['Receiver.Corp.', 'https://receiver.corp.:9443/'],
    ['*.svc.cluster.local', 'http://hooks.default.svc.cluster.local:8080/'],
    ['receiver:3000', 'http://receiver:3000/'],
  ])('%s allows %s', (allowed, url) => {
    expect(reasonOf(url, policyOf(allowed))).toBeUndefined()
  })

  it.each([
    ['127.0.0.1:8080', 'http://127.0.0.1:8081/'],
    ['127.0.0.1', 'http://127.0.0.2/'],
    ['127.0.0.1', 'http://localhost/'],
    ['10.0.0.0/8', 'http://11.0.0.1/'],
    ['10.0.0.0/8', 'http://example.com/'],
    ['receiver', 'http://receiver.example.com/'],
    ['example.com', 'http://www.example.com/'],
    ['*.example.com', 'http://example.com/'],
    ['*.example.com', 'http://badexample.com/'],
    ['receiver:3000', 'http://receiver:3001/'],
    ['', 'http://127.0.0.1/'],
  ])('%j does not allow %s', (allowed, url) => {
    expect(reasonOf(url, policyOf(allowed))).toBeDefined()
  })

  it('still refuses credentials and fragments of an allowed host', () => {
    expect(reasonOf('http://user@receiver/', policyOf('receiver'))).toMatch(/user name/)
    expect(reasonOf('http://receiver/#x', policyOf('receiver'))).toMatch(/fragment/)
  })

  it.each([
    ['0.0.0.0/0', true],
    ['::/0', true],
    ['receiver, 0.0.0.0/1, 128.0.0.0/1', true],
    ['', false],
    ['10.0.0.0/8,127.0.0.1', false],
    ['128.0.0.0/1', false],
    ['fd00::/8', false],
  ])('%j allows every address: %s', (allowed, isEvery) => {
    expect(allowsEveryAddress(policyOf(allowed))).toBe(isEvery)
  })

  it('names every entry that it does not understand', () => {
    const allowed = parseAllowedTargets(
      '10.0.0.0/33, ok.example.com, http://x/, *, a b, 1.2.3.4/8/8, host:99999',
    )
    const reason = allowed.ok ? '' : allowed.reason
    for (const entry of ['10.0.0.0/33', 'http://x/', '"*"', 'a b', '1.2.3.4/8/8', 'host:99999']) {
      expect(reason).toContain(entry)
    }
    expect(reason).not.toContain('ok.example.com')
  })
})

describe('hostOf', () => {
  it('answers IPv6 without brackets', () => {
    expect(hostOf(new URL('https://[::1]:8443/'))).toBe('::1')
  })
})

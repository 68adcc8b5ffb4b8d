import { describe, expect, it } from 'vitest'
import { judgeSockets, type ProofFacts, type SocketVerdict } from './judge-sockets.ts'
import { parseSocketAnswer } from './socket-question.ts'

type Row = Readonly<Record<string, string>>

const PORTS = [42_003, 42_050, 42_017]
const SERVICE = '203.0.113.9'
const LAPTOP = '198.51.100.20'

const LINUX: Row = {
  path: '/usr/lib/chromium/chromium',
  file_uid: '0',
  file_mode: '0755',
  user_namespace: '4026531837',
  first_user_namespace: '4026531837',
}
const MAC: Row = {
  path: '/Applications/Google Chrome.app/Contents/Frameworks/Helpers/Google Chrome Helper',
  signed: '1',
  team_identifier: 'EQHXZ8M8AV',
  identifier: 'com.google.Chrome.helper',
  authority: 'Developer ID Application: Google LLC (EQHXZ8M8AV)',
}
const WINDOWS: Row = {
  path: 'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  signature_result: 'trusted',
  signer: 'Google LLC',
}
const PROGRAMS = { linux: LINUX, darwin: MAC, windows: WINDOWS } as const

/** Directly connected: the service sees the ports of the device. */
const facts = (changes: Partial<ProofFacts> = {}): ProofFacts => ({
  platform: 'linux',
  connections: PORTS.map((port, index) => ({
    port,
    clientAddress: LAPTOP,
    clientPort: 50_000 + index,
    serviceAddress: SERVICE,
  })),
  serviceAddresses: [],
  firstSeenSecondsAgo: 2,
  trustedLocalProxies: [],
  ...changes,
})

const rows = (program: Row, changes: Row = {}): Row[] =>
  PORTS.map((port, index) => ({
    kind: 'browser',
    pid: '812',
    root_pid: '800',
    local_address: LAPTOP,
    local_port: String(50_000 + index),
    remote_address: SERVICE,
    remote_port: String(port),
    uid: '1000',
    username: 'ada',
    age: '3600',
    ...program,
    ...changes,
  }))

const judge = (given: readonly Row[], changes: Partial<ProofFacts> = {}): SocketVerdict =>
  judgeSockets(parseSocketAnswer(given), facts(changes))
const reasonOf = (verdict: SocketVerdict) =>
  verdict.verdict === 'proven' ? 'proven' : verdict.reason

describe('a device is proven', () => {
  it('by a browser that holds every connection, on each platform', () => {
    for (const platform of ['linux', 'darwin', 'windows'] as const) {
      expect(judge(rows(PROGRAMS[platform]), { platform })).toMatchObject({
        verdict: 'proven',
        pid: '812',
        uid: '1000',
        userName: 'ada',
        isPortAgreed: true,
        isLocalProxy: false,
        localPorts: { 42_003: 50_000, 42_050: 50_001, 42_017: 50_002 },
      })
    }
  })

  it('behind a translation of addresses, which shows in the evidence', () => {
    const inside = rows(LINUX, { local_address: '192.0.2.77', local_port: '1' })
    expect(judge(inside)).toMatchObject({ verdict: 'proven', isPortAgreed: false })
  })

  it('at an address that the service has for the agent of the device, or by its name', () => {
    const inside = rows(LINUX, { local_address: '192.0.2.77', remote_address: '192.0.2.1' })
    expect(reasonOf(judge(inside))).toBe('other_address')
    const agent = { kind: 'agent', remote_address: '::ffff:192.0.2.1' }
    expect(reasonOf(judge([...inside, agent]))).toBe('proven')
    expect(reasonOf(judge(inside, { serviceAddresses: ['192.0.2.1'] }))).toBe('proven')
  })

  it('by processes of one browser that the same process has started', () => {
    const [one, two, three] = rows(LINUX)
    expect(reasonOf(judge([{ ...one, pid: '801' }, { ...two, pid: '802' }, { ...three }]))).toBe(
      'proven',
    )
  })

  it('by a local proxy that the policy names, which only an administrator can have put there', () => {
    const proxy = { ...LINUX, path: '/opt/zscaler/bin/zstunnel' }
    const named = { trustedLocalProxies: [{ name: 'Zscaler', path: '/opt/zscaler/bin/zstunnel' }] }
    expect(judge(rows(proxy), named)).toMatchObject({ browser: 'Zscaler', isLocalProxy: true })
    expect(reasonOf(judge(rows({ ...proxy, file_uid: '1000' }), named))).toBe('not_a_browser')
    expect(reasonOf(judge(rows(proxy)))).toBe('not_a_browser')
  })
})

describe('a device is not the one', () => {
  it('without connections, or with too few', () => {
    expect(reasonOf(judge([]))).toBe('no_connections')
    expect(reasonOf(judge(rows(LINUX).slice(1)))).toBe('several_processes')
  })

  it('whose connections go to the same ports of somebody else', () => {
    expect(reasonOf(judge(rows(LINUX, { remote_address: '203.0.113.66' })))).toBe('other_address')
  })

  it('whose ports are others than the service sees', () => {
    expect(reasonOf(judge(rows(LINUX, { local_port: '50007' })))).toBe('other_port')
  })

  it('whose connections are parted among programs or users', () => {
    const [one, two, three] = rows(LINUX)
    const other = { ...three, pid: '990', root_pid: '990' }
    expect(reasonOf(judge([one ?? {}, two ?? {}, other]))).toBe('several_processes')
    expect(reasonOf(judge([one ?? {}, two ?? {}, { ...three, uid: '1001' }]))).toBe(
      'several_processes',
    )
  })

  it('whose process began after the connections', () => {
    expect(reasonOf(judge(rows(LINUX, { age: '1' }), { firstSeenSecondsAgo: 9 }))).toBe(
      'started_later',
    )
    expect(reasonOf(judge(rows(LINUX, { age: '' })))).toBe('started_later')
  })

  it.each<[string, keyof typeof PROGRAMS, Row]>([
    ['a tunnel', 'linux', { path: '/usr/bin/ssh' }],
    ['a browser in the folder of a user', 'linux', { path: '/home/ada/chromium/chromium' }],
    ['a file that a user owns', 'linux', { file_uid: '1000' }],
    ['a file that others may write to', 'linux', { file_mode: '0775' }],
    ['a path that a user namespace pretends', 'linux', { user_namespace: '4026532999' }],
    ['a process whose namespace is unknown', 'linux', { user_namespace: '' }],
    ['an unsigned program', 'darwin', { signed: '0' }],
    ['a program of another team', 'darwin', { team_identifier: 'AAAAAAAAAA' }],
    ['another program of the same team', 'darwin', { identifier: 'com.google.cloudsdk' }],
    [
      'a tunnel of Apple',
      'darwin',
      { team_identifier: '', authority: 'Software Signing', identifier: 'com.apple.openssh' },
    ],
    ['a signature that is not trusted', 'windows', { signature_result: 'distrusted' }],
    ['a renamed program of another signer', 'windows', { signer: 'Somebody Ltd' }],
    ['another program of the same signer', 'windows', { path: 'C:\\Users\\a\\updater.exe' }],
    [
      'a renamed tunnel of Microsoft',
      'windows',
      { path: 'C:\\Users\\a\\msedge.exe', signer: 'Microsoft Corporation' },
    ],
  ])('that shows %s instead of a browser', (_, platform, changes) => {
    const program = { ...PROGRAMS[platform], ...changes }
    expect(reasonOf(judge(rows(program), { platform }))).toBe('not_a_browser')
  })

  it('that answers nonsense', () => {
    const nonsense = rows(LINUX, { pid: 'x', local_port: '-', age: 'soon' })
    expect(reasonOf(judge(nonsense))).toBe('no_connections')
    expect(reasonOf(judge([{}, { kind: 'browser' }]))).toBe('no_connections')
  })
})

import { describe, expect, it } from 'vitest'
import { CHECK_CATALOGUE } from '../src/posture/checks/catalogue/index.ts'
import type { CheckPlatform } from '../src/posture/checks/check-definition.ts'
import { file } from './support/account-posture-rows.ts'
import { augeasFile } from './support/hardening-rows.ts'
import { openOsqueryDatabase, type OsqueryRow, type TableRows } from './support/osquery-database.ts'

type Lines = readonly (readonly [node: string, value: string])[]

const MAIN = '/etc/ssh/sshd_config'
const FOLDER = '/etc/ssh/sshd_config.d'
const INCLUDE = ['Include', `${FOLDER}/*.conf`] as const
const KEYS_ONLY = [
  ['PasswordAuthentication', 'no'],
  ['KbdInteractiveAuthentication', 'no'],
] as const
const RUNNING: TableRows = { systemd_units: [{ id: 'ssh.service', active_state: 'active' }] }

/** The tables of a device whose configuration is these files; those without lines cannot be read. */
function configured(main: Lines, dropIns: Readonly<Record<string, Lines | null>> = {}): TableRows {
  const paths = Object.entries(dropIns).map(([name, lines]) => ({
    path: `${FOLDER}/${name}`,
    lines,
  }))
  const augeas: OsqueryRow[] = paths.flatMap(({ path, lines }) =>
    lines === null ? [] : augeasFile(path, lines),
  )
  return {
    ...RUNNING,
    file: [file(MAIN), ...paths.map(({ path }) => file(path))],
    augeas: [...augeas, ...augeasFile(MAIN, main)],
  }
}

function run(slug: string, tables: TableRows, platform: CheckPlatform = 'linux') {
  using database = openOsqueryDatabase(tables)
  const sql = CHECK_CATALOGUE.find((check) => check.slug === slug)!.queries[platform]!
  const rows = database.prepare(sql).all()
  expect(rows).toHaveLength(1)
  return rows[0]!
}

const password = (tables: TableRows) =>
  run('ssh-password-login-disabled', tables)['KOLIDE_CHECK_STATUS']
const root = (tables: TableRows) => run('root-ssh-login-disabled', tables)['KOLIDE_CHECK_STATUS']

describe('which setting of the SSH server counts', () => {
  it('is the first that sshd reads: the files of sshd_config.d, where they are included first', () => {
    const cloud = { '50-cloud-init.conf': [['PasswordAuthentication', 'yes']] } as const
    expect(password(configured([INCLUDE, ...KEYS_ONLY], cloud))).toBe('FAIL')
    expect(password(configured([...KEYS_ONLY, INCLUDE], cloud))).toBe('PASS')
    expect(root(configured([INCLUDE], { 'a.conf': [['PermitRootLogin', 'yes']] }))).toBe('FAIL')
    expect(
      root(
        configured([INCLUDE, ['PermitRootLogin', 'yes']], {
          'a.conf': [['PermitRootLogin', 'no']],
        }),
      ),
    ).toBe('PASS')
  })

  it('is of the first file by name, whatever the order in which osquery gives them', () => {
    const files = {
      '60-late.conf': [['PasswordAuthentication', 'yes']],
      '50-early.conf': KEYS_ONLY,
    } as const
    expect(password(configured([INCLUDE], files))).toBe('PASS')
    const turned = { '60-late.conf': KEYS_ONLY, '50-early.conf': files['60-late.conf'] }
    expect(password(configured([INCLUDE], turned))).toBe('FAIL')
  })

  it('is of no file that is not included', () => {
    const open = { 'a.conf': [['PermitRootLogin', 'yes']] } as const
    expect(root(configured([['UsePAM', 'yes']], open))).toBe('PASS')
    const inMatch = ['Match/Settings/Include', `${FOLDER}/*.conf`] as const
    expect(root(configured([['Match/Condition/User', 'ada'], inMatch], open))).toBe('UNKNOWN')
  })

  it.each([
    [[`Include`, 'sshd_config.d/*.conf']],
    [['include', `"${FOLDER}/*.conf"`]],
    [['Include', `${FOLDER}/*.conf # all of them`]],
    [['Include', `/etc/ssh/first.conf ${FOLDER}/*.conf`]],
  ] as const)('reads an include as sshd does: %s', (include) => {
    const result = run(
      'root-ssh-login-disabled',
      configured([include], { 'a.conf': [['permitrootlogin', '"Yes"']] }),
    )
    expect(result['permit_root_login']).toBe('yes')
  })

  it('is also what a Match block allows some', () => {
    const inMatch = (node: string, value: string) =>
      configured([
        INCLUDE,
        ...KEYS_ONLY,
        ['Match[1]/Condition/User', 'bob'],
        [`Match[1]/Settings/${node}`, value],
      ])
    expect(password(inMatch('PasswordAuthentication', 'yes'))).toBe('FAIL')
    expect(password(inMatch('X11Forwarding', 'yes'))).toBe('PASS')
    expect(root(inMatch('PermitRootLogin', 'yes'))).toBe('FAIL')
    const inDropIn = [
      ['Match/Condition/Address', '192.0.2.0/24'],
      ['Match/Settings/PermitRootLogin', 'yes'],
    ] as const
    expect(root(configured([INCLUDE], { 'a.conf': inDropIn }))).toBe('FAIL')
    expect(root(configured([], { 'a.conf': inDropIn }))).toBe('PASS')
    expect(root(configured([['Match/Settings/PermitRootLogin', 'no']]))).toBe('PASS')
  })

  it('is unknown when a file that osquery cannot read comes first, and only then', () => {
    const unread = { '10-odd.conf': null, '20-keys.conf': KEYS_ONLY } as const
    expect(password(configured([INCLUDE], unread))).toBe('UNKNOWN')
    expect(
      password(configured([INCLUDE], { '05-keys.conf': KEYS_ONLY, '10-odd.conf': null })),
    ).toBe('PASS')
    expect(password(configured([['Include', '/etc/ssh/site/*.conf'], ...KEYS_ONLY]))).toBe(
      'UNKNOWN',
    )
    expect(password(configured([...KEYS_ONLY, ['Include', '/etc/ssh/site/*.conf']]))).toBe('PASS')
    const red = {
      '50-redhat.conf': [
        ['Include', '/etc/crypto-policies/back-ends/opensshserver.config'],
        ['UsePAM', 'yes'],
      ],
      '60-keys.conf': KEYS_ONLY,
    } as const
    expect(password(configured([INCLUDE], red))).toBe('PASS')
  })

  it('is unknown when the main file cannot be read, and nothing where none is there and no server runs', () => {
    const unreadable = { ...RUNNING, file: [file(MAIN)] }
    expect(password(unreadable)).toBe('UNKNOWN')
    expect(root(unreadable)).toBe('UNKNOWN')
    expect(password(RUNNING)).toBe('UNKNOWN')
    expect(root(RUNNING)).toBe('UNKNOWN')
    const stopped = { systemd_units: [{ id: 'ssh.service', active_state: 'inactive' }] }
    expect(password(stopped)).toBe('INAPPLICABLE')
    expect(root(stopped)).toBe('INAPPLICABLE')
    expect(password({})).toBe('UNKNOWN')
    expect(root({})).toBe('UNKNOWN')
  })

  it('allows root to sign in with a password nowhere by default', () => {
    expect(root(configured([INCLUDE, ['UsePAM', 'yes']]))).toBe('PASS')
    expect(root(configured([]))).toBe('PASS')
  })
})

describe('whether SSH accepts passwords', () => {
  it.each([
    ['nothing is set', [], 'FAIL'],
    ['passwords are off', [['PasswordAuthentication', 'no']], 'PASS'],
    [
      'passwords are off, but PAM asks for them',
      [
        ['PasswordAuthentication', 'no'],
        ['UsePAM', 'yes'],
      ],
      'FAIL',
    ],
    [
      'the old name of keyboard-interactive is set',
      [
        ['PasswordAuthentication', 'no'],
        ['ChallengeResponseAuthentication', 'no'],
        ['UsePAM', 'yes'],
      ],
      'PASS',
    ],
    [
      'a key is needed as well',
      [['AuthenticationMethods', 'publickey,password publickey,keyboard-interactive']],
      'PASS',
    ],
    ['a password alone will do', [['AuthenticationMethods', 'publickey password']], 'FAIL'],
    ['any method will do', [['AuthenticationMethods', 'any']], 'FAIL'],
    ['the line ends with a comment', [['PasswordAuthentication', 'no # keys only']], 'PASS'],
    [
      'a value is set twice',
      [
        ['PasswordAuthentication[1]', 'no'],
        ['PasswordAuthentication[2]', 'yes'],
      ],
      'PASS',
    ],
    ['a comment says otherwise', [['#comment', 'PasswordAuthentication no']], 'FAIL'],
  ] as const)('when %s', (_when, lines, expected) => {
    expect(password(configured(lines))).toBe(expected)
  })

  it('does not matter while macOS has remote login off', () => {
    const check = (remote_login: number | undefined, lines: Lines) => {
      const sharing_preferences = remote_login === undefined ? [] : [{ remote_login }]
      const tables = { ...configured(lines), sharing_preferences }
      return run('ssh-password-login-disabled', tables, 'darwin')['KOLIDE_CHECK_STATUS']
    }
    expect(check(0, [])).toBe('INAPPLICABLE')
    expect(check(1, [])).toBe('FAIL')
    expect(check(1, KEYS_ONLY)).toBe('PASS')
    expect(check(undefined, KEYS_ONLY)).toBe('PASS')
    expect(run('ssh-password-login-disabled', {}, 'darwin')['KOLIDE_CHECK_STATUS']).toBe('UNKNOWN')
  })
})

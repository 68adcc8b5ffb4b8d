import type { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { CHECK_CATALOGUE } from '../src/posture/checks/catalogue/index.ts'
import type { CheckPlatform } from '../src/posture/checks/check-definition.ts'
import { openOsqueryDatabase, type TableRows } from './support/osquery-database.ts'
import { FAILING_TABLES, HEALTHY_DEVICES } from './support/posture-rows.ts'

const STATUS = 'KOLIDE_CHECK_STATUS'

const cases = CHECK_CATALOGUE.flatMap((check) =>
  check.platforms.map((platform) => ({ check, slug: check.slug, platform })),
)

function runCheck(
  slug: string,
  platform: CheckPlatform,
  changes: TableRows = {},
  prepare: (database: DatabaseSync) => void = () => undefined,
) {
  const sql = CHECK_CATALOGUE.find((check) => check.slug === slug)!.queries[platform]!
  using database = openOsqueryDatabase({ ...HEALTHY_DEVICES[platform], ...changes })
  prepare(database)
  return database.prepare(sql).all()
}

describe('the verdicts of the catalogue', () => {
  it.each(cases)('$slug passes or does not apply on a healthy $platform device', (entry) => {
    const rows = runCheck(entry.slug, entry.platform)
    expect(rows).toHaveLength(1)
    expect(['PASS', 'INAPPLICABLE'], JSON.stringify(rows)).toContain(rows[0]?.[STATUS])
  })

  it.each(cases)('$slug fails on an unhealthy $platform device', (entry) => {
    const tables = FAILING_TABLES[entry.slug]?.[entry.platform]
    expect(tables, 'every check and platform has a failing example').toBeDefined()
    const rows = runCheck(entry.slug, entry.platform, tables)
    expect(rows, JSON.stringify(rows)).toHaveLength(1)
    expect(rows[0]?.[STATUS], JSON.stringify(rows)).toBe('FAIL')
    const { primaryKeyColumn } = entry.check
    if (primaryKeyColumn !== undefined) expect(rows[0]?.[primaryKeyColumn]).not.toBe('')
  })

  it('answers one failing row for each bad object, and none for the good ones', () => {
    const key = (path: string, encrypted: number) => ({
      uid: 501,
      path,
      encrypted,
      key_type: 'rsa',
    })
    const rows = runCheck('ssh-keys-encrypted', 'linux', {
      user_ssh_keys: [key('/a', 0), key('/b', 1), key('/c', 0)],
    })
    expect(rows.map((row) => [row['path'], row[STATUS]])).toEqual([
      ['/a', 'FAIL'],
      ['/c', 'FAIL'],
    ])
  })

  it('does not take an active ufw unit for an active firewall', () => {
    const systemd_units = [{ id: 'ufw.service', active_state: 'active' }]
    const status = (tables: TableRows) =>
      runCheck('firewall', 'linux', { systemd_units, ...tables })[0]?.[STATUS]
    expect(status({})).toBe('UNKNOWN')
    expect(status({ kernel_modules: [{ name: 'xt_hl' }] })).toBe('PASS')
    expect(status({ iptables: [{ filter_name: 'filter', chain: 'ufw-user-input' }] })).toBe('PASS')
  })

  it('lets a configuration profile win over the setting of the Mac', () => {
    const policy = { domain: 'com.apple.SoftwareUpdate', name: 'AutomaticDownload', username: '' }
    const rows = runCheck('automatic-updates', 'darwin', {
      managed_policies: [{ ...policy, value: '0' }],
    })
    expect(rows[0]).toMatchObject({ download_updates: '0', [STATUS]: 'FAIL' })
  })

  it('judges Defender only where no other antivirus product is active', () => {
    const rows = runCheck('defender-real-time-protection', 'windows', {
      windows_security_products: [
        { type: 'Antivirus', name: 'Microsoft Defender Antivirus', state: 'Off' },
        { type: 'Antivirus', name: 'Example Antivirus', state: 'On', signatures_up_to_date: 1 },
      ],
    })
    expect(rows[0]?.[STATUS]).toBe('INAPPLICABLE')
  })

  it.each([
    ['windows', '2026-10-13', 'PASS', { build: '26100', name: 'Microsoft Windows 11 Pro' }],
    ['windows', '2026-10-14', 'FAIL', { build: '26100', name: 'Microsoft Windows 11 Pro' }],
    ['windows', '2026-10-14', 'PASS', { build: '26100', name: 'Microsoft Windows 11 Enterprise' }],
    [
      'windows',
      '2026-10-14',
      'FAIL',
      { build: '26100', name: 'Microsoft Windows 11 Pro Education' },
    ],
    ['windows', '2026-10-14', 'INAPPLICABLE', { build: '20348', name: 'Windows Server 2022' }],
    [
      'windows',
      '2027-01-12',
      'PASS',
      { build: '19044', name: 'Microsoft Windows 10 Enterprise LTSC' },
    ],
    [
      'windows',
      '2027-01-13',
      'FAIL',
      { build: '19044', name: 'Microsoft Windows 10 Enterprise LTSC' },
    ],
    [
      'windows',
      '2027-01-13',
      'PASS',
      { build: '19044', name: 'Microsoft Windows 10 IoT Enterprise LTSC' },
    ],
    [
      'windows',
      '2026-10-13',
      'PASS',
      { build: '14393', name: 'Microsoft Windows 10 Enterprise 2016 LTSB' },
    ],
    [
      'windows',
      '2029-10-09',
      'PASS',
      { build: '26100', name: 'Microsoft Windows 11 Enterprise LTSC' },
    ],
    ['windows', '2026-05-01', 'FAIL', { build: '17763', name: 'Microsoft Windows 10 Enterprise' }],
    ['darwin', '2026-09-30', 'PASS', { major: 14 }],
    ['darwin', '2026-10-01', 'FAIL', { major: 14 }],
    ['darwin', '2026-10-01', 'PASS', { major: 15 }],
    ['darwin', '2026-10-01', 'PASS', { major: 27 }],
    ['linux', '2027-04-01', 'PASS', { platform: 'debian', major: 0, minor: 0, codename: 'forky' }],
    ['linux', '2027-04-01', 'FAIL', { platform: 'debian', major: 0, minor: 0, codename: 'trixie' }],
    ['linux', '2027-04-01', 'UNKNOWN', { platform: 'debian', major: 0, minor: 0 }],
    ['linux', '2026-08-31', 'PASS', { platform: 'debian', major: 11, codename: 'bullseye' }],
    ['linux', '2026-09-01', 'FAIL', { platform: 'debian', major: 11, codename: 'bullseye' }],
    ['linux', '2027-04-01', 'PASS', { platform: 'ubuntu', major: 22, minor: 4 }],
    ['linux', '2027-04-02', 'FAIL', { platform: 'ubuntu', major: 22, minor: 4 }],
    ['linux', '2027-04-02', 'PASS', { platform: 'debian', major: 13, minor: 2 }],
    ['linux', '2027-04-02', 'PASS', { platform: 'fedora', major: 45, minor: 0 }],
    ['linux', '2027-04-02', 'UNKNOWN', { platform: 'arch', major: 0, minor: 0 }],
  ] as const)('judges support on %s by the date %s: %s', (platform, today, expected, release) => {
    const os_version = [{ name: 'x', version: 'x', ...release }]
    const rows = runCheck('operating-system-supported', platform, { os_version }, (database) => {
      database.function('date', { varargs: true }, () => today)
    })
    expect(rows[0]?.[STATUS]).toBe(expected)
  })

  it.each([
    ['14.8.6', 'FAIL'],
    ['14.8.7', 'PASS'],
    ['15.7.10', 'PASS'],
    ['16.0.0', 'FAIL'],
    ['26.4.9', 'FAIL'],
    ['26.10.0', 'PASS'],
    ['27.0.0', 'PASS'],
  ])('judges macOS %s by number, not by text: %s', (version, expected) => {
    const [major, minor, patch] = version.split('.').map(Number)
    const os_version = [{ version, major: major!, minor: minor!, patch: patch! }]
    const rows = runCheck('operating-system-up-to-date', 'darwin', { os_version })
    expect(rows[0]?.[STATUS]).toBe(expected)
  })
})

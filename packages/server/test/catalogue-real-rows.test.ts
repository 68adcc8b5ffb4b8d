import { describe, expect, it } from 'vitest'
import { CHECK_CATALOGUE } from '../src/posture/checks/catalogue/index.ts'
import type { CheckPlatform } from '../src/posture/checks/check-definition.ts'
import { openOsqueryDatabase, type TableRows } from './support/osquery-database.ts'
import { registry } from './support/hardening-rows.ts'
import { extension, registryKey } from './support/posture-rows.ts'

function runCheck(slug: string, platform: CheckPlatform, tables: TableRows) {
  const sql = CHECK_CATALOGUE.find((check) => check.slug === slug)!.queries[platform]!
  using database = openOsqueryDatabase(tables)
  return database.prepare(sql).all()
}

function verdictOf(slug: string, platform: CheckPlatform, tables: TableRows): unknown {
  const rows = runCheck(slug, platform, tables)
  expect(rows).toHaveLength(1)
  return rows[0]?.['KOLIDE_CHECK_STATUS']
}

const users = [{ uid: 501, username: 'ada' }]

describe('extensions that do not come from a store', () => {
  const unpacked = { from_webstore: 'false', update_url: '', path: '/Users/ada/code/helper' }
  const webStore = 'https://clients2.google.com/service/update2/crx'
  const edgeStore = 'https://edge.microsoft.com/extensionwebstorebase/v1/crx'
  it.each([
    ['Chrome, Edge and Brave tell no state', unpacked, 'FAIL'],
    ['an unpacked copy of what the store has', { ...unpacked, update_url: webStore }, 'FAIL'],
    ['Opera, Vivaldi and Arc tell that it is on', { ...unpacked, state: '1' }, 'FAIL'],
    ['and that it is off', { ...unpacked, state: '0' }, 'PASS'],
    ['it comes from the web store', {}, 'PASS'],
    ['from Edge Add-ons', { from_webstore: 'false', update_url: edgeStore }, 'PASS'],
    ['its preferences could not be found, its address is a store', { from_webstore: '' }, 'PASS'],
    ['neither its preferences nor an address', { from_webstore: '', update_url: '' }, 'FAIL'],
    ['a folder that is left over', { ...unpacked, referenced: 0, from_webstore: '' }, 'PASS'],
    ['a part of the browser', { ...unpacked, path: '/snap/chromium/1/x' }, 'PASS'],
    [
      'a part of a browser that a person installed',
      {
        ...unpacked,
        path: String.raw`C:\Users\a\AppData\Local\Google\Chrome\Application\148.0\resources\pdf`,
      },
      'PASS',
    ],
  ])('%s', (_, changes, verdict) => {
    const tables = { users, chrome_extensions: [extension(changes)] }
    for (const platform of ['darwin', 'windows', 'linux'] as const) {
      expect(verdictOf('sideloaded-browser-extensions', platform, tables)).toBe(verdict)
    }
  })

  it('does not apply where no extension is installed', () => {
    expect(verdictOf('sideloaded-browser-extensions', 'linux', { users })).toBe('INAPPLICABLE')
  })
})

describe('the screen lock of a Mac, of which osquery as root sees the profile only', () => {
  const policy = (name: string, value: string) => ({
    domain: 'com.apple.screensaver',
    name,
    value,
    username: '',
  })

  it('is unknown without a profile, and the answer says why', () => {
    const [row] = runCheck('screen-lock', 'darwin', {})
    expect(row).toMatchObject({ KOLIDE_CHECK_STATUS: 'UNKNOWN' })
    expect(row?.['explanation']).toMatch(/runs as root.*configuration profile/)
  })

  it.each([
    [[policy('askForPassword', '1')], 'PASS'],
    [[policy('askForPassword', 'true'), policy('askForPasswordDelay', '300')], 'PASS'],
    [[policy('askForPassword', '1'), policy('askForPasswordDelay', '3600')], 'FAIL'],
    [[policy('askForPassword', '0')], 'FAIL'],
  ])('follows the profile: %j is %s', (managed_policies, verdict) => {
    const [row] = runCheck('screen-lock', 'darwin', { managed_policies })
    expect(row).toMatchObject({ explanation: null, KOLIDE_CHECK_STATUS: verdict })
  })

  it('follows the person where osquery runs as one', () => {
    const seen = (enabled: number, grace_period: number) =>
      verdictOf('screen-lock', 'darwin', { screenlock: [{ enabled, grace_period }] })
    expect([seen(1, 60), seen(1, 3600), seen(0, -1)]).toEqual(['PASS', 'FAIL', 'FAIL'])
  })
})

describe('the screen lock of Windows', () => {
  const ENTRA = 'S-1-12-1-3623811015-1234567890-987654321-2222222222'
  const DOMAIN = 'S-1-5-21-3623811015-3361044348-30300820-1013'
  const services = ['S-1-5-18', 'S-1-5-19', 'S-1-5-20', '.DEFAULT'].map((name) =>
    registryKey('HKEY_USERS', name),
  )
  const DESKTOP = String.raw`Control Panel\Desktop`
  const POLICY = String.raw`Software\Policies\Microsoft\Windows\Control Panel\Desktop`
  const person = (sid: string, secure?: string, seconds?: string, key = DESKTOP) => [
    registryKey('HKEY_USERS', sid),
    registryKey('HKEY_USERS', `${sid}_Classes`),
    ...(secure === undefined
      ? []
      : [registry(`HKEY_USERS\\${sid}\\${key}\\ScreenSaverIsSecure`, secure)]),
    ...(seconds === undefined
      ? []
      : [registry(`HKEY_USERS\\${sid}\\${key}\\ScreenSaveTimeOut`, seconds)]),
  ]
  const device = (path: string, data: string) =>
    registry(`HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\${path}`, data)
  const TIMEOUT = String.raw`Windows\CurrentVersion\Policies\System\InactivityTimeoutSecs`
  const DEVICE_LOCK = String.raw`PolicyManager\current\device\DeviceLock\MaxInactivityTimeDeviceLock`

  it.each([
    ['a person of Entra ID whose screen locks', person(ENTRA, '1', '600'), 'PASS'],
    ['a person of a domain whose screen locks', person(DOMAIN, '1', '900'), 'PASS'],
    ['the screen saver locks too late', person(ENTRA, '1', '901'), 'FAIL'],
    ['it does not lock', person(ENTRA, '0', '600'), 'FAIL'],
    ['nothing was ever set', person(ENTRA), 'FAIL'],
    ['two are signed in, and one locks', [...person(ENTRA, '1', '600'), ...person(DOMAIN)], 'FAIL'],
    [
      'two are signed in, and both lock',
      [...person(ENTRA, '1', '600'), ...person(DOMAIN, '1', '300')],
      'PASS',
    ],
    ['a group policy locks', person(DOMAIN, '1', '600', POLICY), 'PASS'],
    [
      'a group policy wins over the choice',
      [...person(DOMAIN, '1', '600', POLICY), ...person(DOMAIN, '0', '0').slice(2)],
      'PASS',
    ],
    ['nobody is signed in', [], 'UNKNOWN'],
    ['nobody is signed in, and the device locks', [device(TIMEOUT, '900')], 'PASS'],
    ['a limit of 0 is none', [device(TIMEOUT, '0'), ...person(ENTRA)], 'FAIL'],
    ['mobile device management locks after minutes', [device(DEVICE_LOCK, '15')], 'PASS'],
    ['or too late', [device(DEVICE_LOCK, '60'), ...person(ENTRA)], 'FAIL'],
  ])('%s', (_, rows, verdict) => {
    expect(verdictOf('screen-lock', 'windows', { registry: [...services, ...rows] })).toBe(verdict)
  })
})

describe('Windows is up to date by its build and revision', () => {
  const pro = 'Microsoft Windows 11 Pro'
  it.each([
    [{ build: '26200', revision: 8245, name: pro }, 'FAIL'],
    [{ build: '26200', revision: 8246, name: pro }, 'PASS'],
    [{ build: '26100', revision: 8655, name: pro }, 'PASS'],
    [{ build: '26300', revision: 1, name: pro }, 'PASS'],
    [{ build: '19044', revision: 6809, name: 'Microsoft Windows 10 Enterprise LTSC' }, 'PASS'],
    [{ build: '18363', revision: 9999, name: pro }, 'FAIL'],
    [{ build: '28000', revision: 1, name: pro }, 'PASS'],
    [{ build: '26200', name: pro }, 'UNKNOWN'],
    [
      { build: '26100', revision: 1, name: 'Microsoft Windows Server 2025 Standard' },
      'INAPPLICABLE',
    ],
  ])('%j is %s', (os_version, verdict) => {
    expect(verdictOf('operating-system-up-to-date', 'windows', { os_version: [os_version] })).toBe(
      verdict,
    )
  })

  it('tells which revision is needed', () => {
    const os_version = [{ build: '26200', revision: 6584, name: pro }]
    const [row] = runCheck('operating-system-up-to-date', 'windows', { os_version })
    expect(row).toMatchObject({ version: '26200.6584', minimum_version: '26200.8246' })
  })
})

describe('a table that answers nothing is no pass', () => {
  const TIME_MACHINE = '/Library/Preferences/com.apple.TimeMachine.plist'
  const disk = (encryption: string) => ({ destination_id: encryption, alias: 'B', encryption })
  it.each([
    ['Time Machine is not set up', {}, 'INAPPLICABLE'],
    ['osquery may not read its settings', { file: [{ path: TIME_MACHINE }] }, 'UNKNOWN'],
    [
      'its settings name no disk',
      {
        file: [{ path: TIME_MACHINE }],
        plist: [{ path: TIME_MACHINE, key: 'AutoBackup', value: '0' }],
      },
      'INAPPLICABLE',
    ],
    ['its disk is encrypted', { time_machine_destinations: [disk('Encrypted')] }, 'PASS'],
    ['its disk is not', { time_machine_destinations: [disk('NotEncrypted')] }, 'FAIL'],
    ['it does not say', { time_machine_destinations: [disk('')] }, 'UNKNOWN'],
  ])('backups: %s', (_, tables, verdict) => {
    expect(verdictOf('backups-encrypted', 'darwin', tables)).toBe(verdict)
  })

  it.each([
    ['not readable', [], 'UNKNOWN'],
    ['all have one', [{ username: 'root', password_status: 'locked' }], 'PASS'],
    ['one has none', [{ username: 'guest', password_status: 'empty' }], 'FAIL'],
  ])('passwords of accounts: %s', (_, shadow, verdict) => {
    expect(verdictOf('accounts-have-passwords', 'linux', { shadow })).toBe(verdict)
  })

  const setting = (key: string, value: string) => ({
    domain: 'com.apple.sharingd',
    key,
    value,
    username: 'ada',
  })
  const noAirDrop = { domain: 'com.apple.applicationaccess', name: 'allowAirDrop', username: '' }
  it.each([
    ['no settings at all', { users }, 'UNKNOWN'],
    ['never changed', { users, preferences: [setting('Version', '1')] }, 'PASS'],
    ['open', { users, preferences: [setting('DiscoverableMode', 'Everyone')] }, 'FAIL'],
    ['off', { users, preferences: [setting('DiscoverableMode', 'Off')] }, 'PASS'],
    ['forbidden by a profile', { users, managed_policies: [{ ...noAirDrop, value: '0' }] }, 'PASS'],
    [
      'allowed by a profile',
      { users, managed_policies: [{ ...noAirDrop, value: '1' }] },
      'UNKNOWN',
    ],
  ])('AirDrop: %s', (_, tables, verdict) => {
    expect(verdictOf('airdrop-not-open-to-everyone', 'darwin', tables)).toBe(verdict)
  })

  it.each([
    ['rules that may not be read', { file: [{ path: '/etc/sudoers' }] }, 'UNKNOWN'],
    ['no sudo', {}, 'INAPPLICABLE'],
  ])('sudo: %s', (_, tables, verdict) => {
    expect(verdictOf('sudo-requires-password', 'linux', tables)).toBe(verdict)
  })

  it('SSH keys: none is nothing to protect', () => {
    expect(verdictOf('ssh-keys-encrypted', 'linux', { users })).toBe('INAPPLICABLE')
  })

  it.each([
    ['stopped', 'PASS'],
    ['running', 'UNKNOWN'],
  ])('shares of Windows whose server service is %s', (status, verdict) => {
    const services = [{ name: 'LanmanServer', status: status.toUpperCase() }]
    expect(verdictOf('file-sharing-disabled', 'windows', { services })).toBe(verdict)
  })

  it('the firewall of macOS 15 is unknown to an osquery before 5.14', () => {
    const osquery_info = [{ version: '5.12.1' }]
    const [row] = runCheck('firewall', 'darwin', { osquery_info })
    expect(row).toMatchObject({ osquery_version: '5.12.1', KOLIDE_CHECK_STATUS: 'UNKNOWN' })
  })
})

import { describe, expect, it } from 'vitest'
import { CHECK_CATALOGUE } from '../src/posture/checks/catalogue/index.ts'
import type { CheckPlatform } from '../src/posture/checks/check-definition.ts'
import {
  appStoreUpdates,
  defenderFeatures,
  llmnr,
  lsa,
  registry,
  smbSigning,
  tpm,
} from './support/hardening-rows.ts'
import { openOsqueryDatabase, type TableRows } from './support/osquery-database.ts'

function run(slug: string, platform: CheckPlatform, tables: TableRows = {}) {
  using database = openOsqueryDatabase(tables)
  const sql = CHECK_CATALOGUE.find((check) => check.slug === slug)!.queries[platform]!
  return database.prepare(sql).all()
}

const status = (slug: string, platform: CheckPlatform, tables: TableRows = {}) =>
  run(slug, platform, tables)[0]?.['KOLIDE_CHECK_STATUS']

const CONTROL_SET = String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet`
const windows = (build: string, name: string): TableRows => ({ os_version: [{ build, name }] })
const antivirus = (name: string, state: string): TableRows => ({
  windows_security_products: [{ type: 'Antivirus', name, state }],
})

describe('checks of hardening, where nothing can be seen', () => {
  it.each([
    ['remote-apple-events-disabled', 'darwin'],
    ['printer-sharing-disabled', 'darwin'],
    ['app-store-automatic-updates', 'darwin'],
    ['lsa-protection', 'windows'],
    ['credential-guard', 'windows'],
    ['defender-tamper-protection', 'windows'],
    ['llmnr-disabled', 'windows'],
    ['ntlmv1-disabled', 'windows'],
    ['smb-signing-required', 'windows'],
    ['tpm-ready', 'windows'],
    ['data-drives-encrypted', 'windows'],
    ['defender-exclusions', 'windows'],
    ['hosts-file-unaltered', 'darwin'],
    ['hosts-file-unaltered', 'windows'],
    ['hosts-file-unaltered', 'linux'],
    ['unexpected-root-certificates', 'darwin'],
    ['unexpected-root-certificates', 'windows'],
    ['unexpected-root-certificates', 'linux'],
    ['linux-screen-lock', 'linux'],
  ] as const)('%s is unknown on %s', (slug, platform) => {
    const rows = run(slug, platform)
    expect(rows).toHaveLength(1)
    expect(rows[0]?.['KOLIDE_CHECK_STATUS']).toBe('UNKNOWN')
  })
})

describe('App Store updates', () => {
  it('follow a configuration profile, then the switch of the Mac', () => {
    const policy = (value: string) => ({
      domain: 'com.apple.SoftwareUpdate',
      name: 'AutomaticallyInstallAppUpdates',
      username: '',
      value,
    })
    const check = (tables: TableRows) => status('app-store-automatic-updates', 'darwin', tables)
    expect(check({ plist: appStoreUpdates('1') })).toBe('PASS')
    expect(check({ plist: appStoreUpdates('0') })).toBe('FAIL')
    expect(check({ plist: appStoreUpdates('1'), managed_policies: [policy('0')] })).toBe('FAIL')
    expect(check({ plist: appStoreUpdates('0'), managed_policies: [policy('true')] })).toBe('PASS')
  })
})

describe('LSA protection and Credential Guard', () => {
  it.each([
    ['RunAsPPL', '1', 'PASS'],
    ['RunAsPPL', '2', 'PASS'],
    ['RunAsPPL', '0', 'FAIL'],
    ['SomethingElse', '1', 'FAIL'],
  ])('judges %s = %s', (name, data, expected) => {
    expect(status('lsa-protection', 'windows', { registry: lsa(name, data) })).toBe(expected)
  })

  it('believes the process more than the registry', () => {
    const processes = [{ name: 'lsass.exe', protection_type: 'PsProtectedSignerLsa-Light' }]
    expect(status('lsa-protection', 'windows', { registry: lsa('RunAsPPL', '0'), processes })).toBe(
      'PASS',
    )
  })

  it.each([
    ['Microsoft Windows 11 Enterprise', 'FAIL'],
    ['Microsoft Windows 11 Education', 'FAIL'],
    ['Microsoft Windows 11 Pro', 'INAPPLICABLE'],
    ['Microsoft Windows 11 Home', 'INAPPLICABLE'],
  ])('expects Credential Guard where it is licensed: %s', (name, expected) => {
    const processes = [{ name: 'lsass.exe' }]
    expect(status('credential-guard', 'windows', { ...windows('26100', name), processes })).toBe(
      expected,
    )
    const isolated = [...processes, { name: 'LsaIso.exe' }]
    expect(
      status('credential-guard', 'windows', { ...windows('26100', name), processes: isolated }),
    ).toBe('PASS')
  })
})

describe('Tamper Protection', () => {
  it.each([
    ['5', 'PASS'],
    ['1', 'PASS'],
    ['4', 'FAIL'],
    ['0', 'FAIL'],
    ['9', 'UNKNOWN'],
  ])('is told by the value %s', (data, expected) => {
    const tables = { registry: defenderFeatures(data) }
    expect(status('defender-tamper-protection', 'windows', tables)).toBe(expected)
  })

  it('does not apply where another antivirus product is active', () => {
    const check = (state: string) =>
      status('defender-tamper-protection', 'windows', {
        registry: defenderFeatures('0'),
        ...antivirus('Example Antivirus', state),
      })
    expect(check('On')).toBe('INAPPLICABLE')
    expect(check('Expired')).toBe('FAIL')
  })
})

describe('protocols of Windows networks', () => {
  it('fails LLMNR where no policy switches it off', () => {
    const dnsClient = registry(`${CONTROL_SET}\\Services\\Dnscache\\Start`, '2', 'REG_DWORD')
    const check = (...rows: ReturnType<typeof registry>[]) =>
      status('llmnr-disabled', 'windows', { registry: [dnsClient, ...rows] })
    expect(check()).toBe('FAIL')
    expect(check(...llmnr('1'))).toBe('FAIL')
    expect(check(...llmnr('0'))).toBe('PASS')
  })

  it.each([
    ['LmCompatibilityLevel', '0', 'FAIL'],
    ['lmcompatibilitylevel', '2', 'FAIL'],
    ['LmCompatibilityLevel', '3', 'PASS'],
    ['LmCompatibilityLevel', '5', 'PASS'],
    ['SomethingElse', '1', 'PASS'],
  ])('judges NTLM by %s = %s', (name, data, expected) => {
    expect(status('ntlmv1-disabled', 'windows', { registry: lsa(name, data) })).toBe(expected)
  })

  it.each([
    ['1', '1', 'PASS'],
    ['0', '1', 'FAIL'],
    ['1', '0', 'FAIL'],
  ])('demands SMB signatures of both sides: client %s, server %s', (client, server, expected) => {
    const tables = {
      ...windows('22631', 'Microsoft Windows 11 Pro'),
      registry: smbSigning(client, server),
    }
    expect(status('smb-signing-required', 'windows', tables)).toBe(expected)
  })

  it('does not ask for signatures of a file server that is disabled', () => {
    const tables = {
      registry: smbSigning('1', '0'),
      services: [{ name: 'LanmanServer', start_type: 'DISABLED' }],
    }
    expect(status('smb-signing-required', 'windows', tables)).toBe('PASS')
  })

  it.each([
    ['22631', 'Microsoft Windows 11 Pro', 'FAIL'],
    ['19045', 'Microsoft Windows 10 Enterprise', 'FAIL'],
    ['26100', 'Microsoft Windows 11 Pro', 'PASS'],
    ['26200', 'Microsoft Windows 11 Enterprise', 'PASS'],
    ['26200', 'Microsoft Windows 11 Home', 'UNKNOWN'],
    ['26100', 'Microsoft Windows Server 2025 Standard', 'UNKNOWN'],
  ])('knows what Windows does where nothing is set: build %s of %s', (build, name, expected) => {
    expect(status('smb-signing-required', 'windows', windows(build, name))).toBe(expected)
  })
})

describe('the TPM', () => {
  const driver = registry(`${CONTROL_SET}\\Services\\TPM\\Start`, '3', 'REG_DWORD')
  const device = registry(`${CONTROL_SET}\\Services\\TPM\\Enum\\Count`, '1', 'REG_DWORD')

  it('is ready when it is enabled, activated and owned', () => {
    expect(status('tpm-ready', 'windows', { tpm_info: tpm({}) })).toBe('PASS')
    for (const column of ['enabled', 'activated', 'owned']) {
      expect(status('tpm-ready', 'windows', { tpm_info: tpm({ [column]: 0 }) })).toBe('FAIL')
    }
  })

  it('is missing when Windows drives none, and unknown when it drives one that does not answer', () => {
    expect(status('tpm-ready', 'windows', { registry: [driver] })).toBe('FAIL')
    expect(status('tpm-ready', 'windows', { registry: [driver, device] })).toBe('UNKNOWN')
  })
})

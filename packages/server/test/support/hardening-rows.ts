/* Rows of osquery about settings that harden a device, as its tables give them. */
import { file } from './account-posture-rows.ts'
import type { OsqueryRow } from './osquery-database.ts'

const CONTROL_SET = String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet`
const LSA = String.raw`${CONTROL_SET}\Control\Lsa`
const DEFENDER = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows Defender`
const POLICIES = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Policies\Microsoft`
const SSHD_CONFIG = '/etc/ssh/sshd_config'

/** A value of the Windows registry, or with the type `subkey` a key below another one. */
export function registry(path: string, data: string, type = 'REG_SZ'): OsqueryRow {
  const end = path.lastIndexOf('\\')
  return { path, key: path.slice(0, end), name: path.slice(end + 1), data, type }
}

/** The settings of the local security authority: what Windows always has, and one value. */
export function lsa(name: string, data: string): OsqueryRow[] {
  return [
    registry(`${LSA}\\LsaPid`, '784', 'REG_DWORD'),
    registry(`${LSA}\\${name}`, data, 'REG_DWORD'),
  ]
}

/** Whether Windows demands signatures of SMB. It writes the name of one value in small letters itself. */
export function smbSigning(client: string, server: string): OsqueryRow[] {
  return [
    registry(
      String.raw`${CONTROL_SET}\Services\LanmanWorkstation\Parameters\RequireSecuritySignature`,
      client,
      'REG_DWORD',
    ),
    registry(
      String.raw`${CONTROL_SET}\Services\LanmanServer\Parameters\requiresecuritysignature`,
      server,
      'REG_DWORD',
    ),
  ]
}

/** The switch of Tamper Protection. */
export function defenderFeatures(tamperProtection: string): OsqueryRow[] {
  return [
    registry(String.raw`${DEFENDER}\Features\TamperProtection`, tamperProtection, 'REG_DWORD'),
  ]
}

/** Whether Windows asks its neighbours for names. */
export function llmnr(enableMulticast: string): OsqueryRow[] {
  return [
    registry(
      String.raw`${POLICIES}\Windows NT\DNSClient\EnableMulticast`,
      enableMulticast,
      'REG_DWORD',
    ),
  ]
}

/** The registry of a Windows that is hardened. */
export const GOOD_WINDOWS_SETTINGS: readonly OsqueryRow[] = [
  ...lsa('RunAsPPL', '2'),
  ...smbSigning('1', '1'),
  ...defenderFeatures('5'),
  ...llmnr('0'),
]

/** What a TPM says of itself. */
export function tpm(changes: OsqueryRow): OsqueryRow[] {
  return [{ activated: 1, enabled: 1, owned: 1, spec_version: '2.0, 0, 1.59', ...changes }]
}

/** The switch of automatic updates of the App Store. */
export function appStoreUpdates(autoUpdate: string): OsqueryRow[] {
  const path = '/Library/Preferences/com.apple.commerce.plist'
  return [{ path, key: 'AutoUpdate', subkey: '', value: autoUpdate }]
}

/** The lines of a configuration file as Augeas gives them, the file itself first: node below the file, and value. */
export function augeasFile(
  path: string,
  lines: readonly (readonly [node: string, value: string])[],
): OsqueryRow[] {
  const file = { node: `/files${path}`, value: '', label: path.split('/').at(-1) ?? '', path }
  const rows = lines.map(([node, value]) => {
    const label = (node.split('/').at(-1) ?? '').replace(/\[\d+\]$/, '')
    return { node: `/files${path}/${node}`, value, label, path }
  })
  return [file, ...rows]
}

/** An SSH server with a single configuration file. */
export function sshServer(
  settings: Readonly<Record<string, string>>,
): Record<'file' | 'augeas', OsqueryRow[]> {
  return {
    file: [file(SSHD_CONFIG)],
    augeas: augeasFile(SSHD_CONFIG, Object.entries(settings)),
  }
}

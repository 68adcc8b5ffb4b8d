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

/** A root certificate in a store of Windows: a key below that of the store. */
export function windowsRoot(store: string, thumbprint: string): OsqueryRow {
  const stores = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\SystemCertificates`
  return registry(`${stores}\\${store}\\Certificates\\${thumbprint}`, '', 'subkey')
}

/** The key of Defender's exclusions, and what is excluded. */
export function defenderExclusions(
  kind: 'Paths' | 'Extensions' | 'Processes',
  ...names: readonly string[]
): OsqueryRow[] {
  const key = `${DEFENDER}\\Exclusions`
  const excluded = names.map((name) => ({
    key: `${key}\\${kind}`,
    path: `${key}\\${kind}\\${name}`,
    name,
    data: '0',
    type: 'REG_DWORD',
  }))
  return [registry(`${key}\\Paths`, '', 'subkey'), ...excluded]
}

/** A certificate that signs itself, as macOS and Linux show it. */
export function rootCertificate(path: string, name: string, digit: string): OsqueryRow {
  return { path, common_name: name, sha1: digit.repeat(40), ca: 1, self_signed: 1 }
}

/** The registry of a Windows that is hardened. */
export const GOOD_WINDOWS_SETTINGS: readonly OsqueryRow[] = [
  windowsRoot('ROOT', 'CDD4EEAE6000AC7F40C3802C171E30148030C072'),
  ...defenderExclusions('Paths', String.raw`D:\Builds\heavy`),
  ...lsa('RunAsPPL', '2'),
  ...smbSigning('1', '1'),
  ...defenderFeatures('5'),
  ...llmnr('0'),
]

/** What a TPM says of itself. */
export function tpm(changes: OsqueryRow): OsqueryRow[] {
  return [{ activated: 1, enabled: 1, owned: 1, spec_version: '2.0, 0, 1.59', ...changes }]
}

/** What BitLocker says of a drive. */
export function bitlocker(
  drive_letter: string,
  protection_status: number,
  conversion_status: number,
): OsqueryRow {
  return { drive_letter, protection_status, conversion_status }
}

/** Names of a hosts file. */
export function hosts(...entries: readonly (readonly [address: string, hostnames: string])[]) {
  return [
    { address: '127.0.0.1', hostnames: 'localhost' },
    ...entries.map(([address, hostnames]) => ({ address, hostnames })),
  ]
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

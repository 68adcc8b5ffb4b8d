/* What makes the checks of hardening fail, for each of them and each platform. */
import type { CheckPlatform } from '../../src/posture/checks/check-definition.ts'
import { file } from './account-posture-rows.ts'
import {
  appStoreUpdates,
  bitlocker,
  defenderExclusions,
  defenderFeatures,
  hosts,
  lsa,
  registry,
  rootCertificate,
  smbSigning,
  sshServer,
  tpm,
  windowsRoot,
} from './hardening-rows.ts'
import type { TableRows } from './osquery-database.ts'

/** The tables replace those of a healthy device. */
export const HARDENING_FAILING_TABLES: Readonly<
  Record<string, Readonly<Partial<Record<CheckPlatform, TableRows>>>>
> = {
  'data-drives-encrypted': { windows: { bitlocker_info: [bitlocker('D:', 0, 0)] } },
  'linux-screen-lock': { linux: { processes: [{ name: 'sway' }] } },
  'defender-exclusions': {
    windows: { registry: defenderExclusions('Paths', String.raw`C:\Users\ada\Downloads`) },
  },
  'hosts-file-unaltered': {
    darwin: { etc_hosts: hosts(['203.0.113.9', 'appleid.apple.com']) },
    windows: { etc_hosts: hosts(['0.0.0.0', 'sls.update.microsoft.com']) },
    linux: { etc_hosts: hosts(['203.0.113.9', 'example.org github.com']) },
  },
  'unexpected-root-certificates': {
    darwin: {
      certificates: [rootCertificate('/Library/Keychains/System.keychain', 'mkcert', 'b')],
    },
    windows: { registry: [windowsRoot('ROOT', 'b'.repeat(40))] },
    linux: { file: [file('/usr/local/share/ca-certificates/proxy.crt')] },
  },
  'app-store-automatic-updates': { darwin: { plist: appStoreUpdates('0') } },
  'defender-tamper-protection': { windows: { registry: defenderFeatures('4') } },
  'tpm-ready': { windows: { tpm_info: tpm({ owned: 0 }) } },
  'lsa-protection': { windows: { registry: lsa('RunAsPPL', '0') } },
  'credential-guard': {
    windows: {
      os_version: [{ name: 'Microsoft Windows 11 Enterprise', build: '26200' }],
      processes: [{ name: 'lsass.exe' }],
    },
  },
  'root-ssh-login-disabled': { linux: sshServer({ PermitRootLogin: 'yes' }) },
  'ssh-password-login-disabled': {
    darwin: {
      sharing_preferences: [{ remote_login: 1 }],
      ...sshServer({ PasswordAuthentication: 'yes' }),
    },
    linux: {
      systemd_units: [{ id: 'sshd.service', active_state: 'active' }],
      ...sshServer({ PasswordAuthentication: 'yes' }),
    },
  },
  'remote-apple-events-disabled': { darwin: { sharing_preferences: [{ remote_apple_events: 1 }] } },
  'printer-sharing-disabled': { darwin: { sharing_preferences: [{ printer_sharing: 1 }] } },
  'smb-signing-required': { windows: { registry: smbSigning('1', '0') } },
  'ntlmv1-disabled': { windows: { registry: lsa('LmCompatibilityLevel', '2') } },
  'llmnr-disabled': {
    windows: {
      registry: [
        registry(
          String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\Dnscache\Start`,
          '2',
        ),
      ],
    },
  },
}

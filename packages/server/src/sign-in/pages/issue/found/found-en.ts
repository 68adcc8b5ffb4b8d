/* What the built-in checks found, in English. */
import { OFF, ON, type FoundWords } from './found-sentence.ts'

const outdatedApplication = [
  'Out of date: {outdated}. At least {minimum_version} is needed.',
  'Out of date: {outdated}.',
] as const

/** By the slug of the check. */
export const foundInEnglish: Readonly<Record<string, FoundWords>> = {
  'disk-encryption': {
    darwin: 'FileVault is off.',
    windows: [
      [
        { conversion_status: '1' },
        'BitLocker is suspended on the drive {drive_letter}: for now it protects nothing.',
      ],
      [{ conversion_status: '2' }, 'The drive {drive_letter} is still being encrypted.'],
      'BitLocker is off on the drive {drive_letter}.',
      'BitLocker is off on the system drive.',
    ],
    linux: [
      'The system starts from {root_device}, which is not encrypted.',
      'The disk that the system starts from is not encrypted.',
    ],
  },
  'data-drives-encrypted': [
    [{ protection: 'suspended' }, 'BitLocker is suspended on the drive {drive}.'],
    [{ protection: 'encrypting' }, 'The drive {drive} is still being encrypted.'],
    'BitLocker is off on the drive {drive}.',
  ],
  firewall: {
    darwin: 'The firewall of macOS is switched off.',
    windows: [
      'Windows reports that no firewall protects this computer ({products}).',
      'Windows reports that no firewall protects this computer.',
    ],
    linux: 'None of firewalld, nftables, iptables and ufw is filtering connections.',
  },
  'screen-lock': {
    darwin: [
      [{ enabled: '0' }, 'No password is asked for after the screen has gone dark.'],
      [{ grace_period: '-1' }, 'No password is asked for after the screen has gone dark.'],
      'A password is asked for only {grace_period} seconds after the screen has gone dark.',
      [
        { managed_ask_for_password: ON },
        'A profile lets the screen stay open for {managed_delay} seconds before a password is asked for.',
      ],
      'A profile says that no password is asked for after the screen has gone dark.',
    ],
    windows: 'Nothing locks the screen within 15 minutes.',
  },
  'linux-screen-lock': [
    'The desktop {bare_desktops} is running, and no program that locks its screen.',
  ],
  'automatic-updates': {
    darwin: [
      [{ check_for_updates: OFF }, 'macOS does not look for updates by itself.'],
      [{ download_updates: OFF }, 'macOS does not download updates by itself.'],
      [{ install_security_responses: OFF }, 'macOS does not install security responses by itself.'],
      'macOS does not install its updates by itself.',
    ],
    windows: [
      [{ service_start_type: 'disabled' }, 'The service Windows Update is disabled.'],
      [{ no_auto_update: '1' }, 'A policy has switched automatic updates off.'],
      [{ au_options: '1' }, 'A policy keeps Windows from looking for updates.'],
      [{ au_options: '2' }, 'A policy has Windows ask before it downloads updates.'],
    ],
    linux: [
      [
        { unattended_upgrade_period: '0' },
        'The package unattended-upgrades is installed, but switched off.',
      ],
      'Neither unattended-upgrades nor a timer of dnf or rpm-ostree installs updates.',
    ],
  },
  'app-store-automatic-updates': 'Apps of the App Store wait for somebody to update them.',
  'operating-system-up-to-date': {
    darwin: [
      'macOS {version} is installed. At least {minimum_version} is needed.',
      'macOS {version} is installed, which is no longer updated.',
    ],
    windows: [
      'Windows is at build {version}. At least {minimum_version} is needed.',
      'Windows is at build {version}, which is no longer updated.',
    ],
  },
  'operating-system-supported': {
    darwin: [
      'Security updates for macOS {version} ended on {supported_until}.',
      'macOS {version} gets no more security updates.',
    ],
    windows: [
      'Security updates for {version} ended on {supported_until}.',
      '{version} gets no more security updates.',
    ],
    linux: [
      'Security updates for {version} ended on {supported_until}.',
      '{version} gets no more security updates.',
    ],
  },
  antivirus: [
    [{ antivirus: 'good' }, 'The antivirus works with old signatures ({products}).'],
    'Windows reports that no antivirus protects this computer ({products}).',
    'Windows reports that no antivirus protects this computer.',
  ],
  'defender-real-time-protection': [
    [{ disabled_by_policy: '1' }, 'A policy has switched real-time protection off.'],
    [{ disabled_by_setting: '1' }, 'Real-time protection was switched off.'],
    [{ defender_state: 'snoozed' }, 'Microsoft Defender is paused.'],
    [{ defender_state: 'expired' }, 'Microsoft Defender has expired.'],
    'Microsoft Defender is off.',
  ],
  'defender-tamper-protection': 'Programs may switch Microsoft Defender off.',
  'defender-exclusions': [
    [{ kind: 'extensions' }, 'Microsoft Defender passes over every file that ends in {exclusion}.'],
    [{ kind: 'processes' }, 'Microsoft Defender passes over every file that {exclusion} opens.'],
    'Microsoft Defender passes over everything in {exclusion}.',
  ],
  gatekeeper: 'macOS starts apps without looking at where they come from.',
  'system-integrity-protection': 'System Integrity Protection was switched off.',
  'malware-definition-updates': 'macOS does not install new definitions of malware by itself.',
  'endpoint-detection-running': 'None of the known programs that detect attacks is running.',
  'secure-boot': {
    darwin: [
      [{ policy: 'permissive security' }, 'The startup security of this Mac is set to permissive.'],
      'Secure boot is off.',
    ],
    windows: [
      [{ setup_mode: '1' }, 'The firmware is in its setup mode, in which anything may start.'],
      'Secure boot is switched off in the firmware.',
    ],
    linux: [
      [{ setup_mode: '1' }, 'The firmware is in its setup mode, in which anything may start.'],
      'Secure boot is switched off in the firmware.',
    ],
  },
  'tpm-ready': [
    [{ enabled: '0' }, 'The security chip is switched off.'],
    [{ activated: '0' }, 'The security chip is not activated.'],
    [{ owned: '0' }, 'Windows does not own the security chip yet.'],
    'Windows sees no security chip that it can use.',
  ],
  'user-account-control': [
    [{ enable_lua: '0' }, 'User Account Control is switched off.'],
    'Programs get administrator rights without a question.',
  ],
  'lsa-protection': 'The process that knows your passwords runs without its protection.',
  'credential-guard': '{edition} runs without Credential Guard.',
  'automatic-login-disabled': {
    darwin: 'This Mac signs {automatic_login_user} in by itself when it starts.',
    windows: 'Windows signs somebody in by itself when it starts.',
  },
  'guest-account-disabled': 'The guest account is switched on.',
  'accounts-have-passwords': 'The account {username} has no password.',
  'password-policy': [
    [{ minimum_length: '0' }, 'Passwords may have any length, even none at all.'],
    [{ minimum_length: '1' }, 'Passwords may be as short as one character.'],
    'Passwords may be as short as {minimum_length} characters.',
  ],
  'user-not-local-administrator': 'Signed in with administrator rights: {administrators}.',
  'sudo-requires-password':
    'The file {source} has a rule by which sudo asks for no password: {rule}',
  'ssh-keys-encrypted': 'The SSH key {path} of the account {username} has no passphrase.',
  'password-manager-installed':
    'No password manager was found, neither among the programs nor in a browser.',
  'two-factor-backup-codes': 'By its name this file holds backup codes: {path}',
  'password-manager-kits':
    'By its name this file is an emergency kit or an export of a password manager: {path}',
  'plain-text-cloud-credentials': 'This file keeps access to a cloud in plain text: {path}',
  'plain-text-registry-credentials':
    'This file keeps access to a package registry or code host in plain text: {path}',
  'remote-login-disabled': {
    darwin: 'Remote Login is on.',
    windows: 'The SSH server of Windows is running.',
    linux: 'An SSH server is running ({active_units}).',
  },
  'root-ssh-login-disabled': 'The SSH server lets the account root in with a password.',
  'ssh-password-login-disabled': 'The SSH server lets people in with a password alone.',
  'remote-desktop-disabled': {
    windows: 'Windows accepts connections of Remote Desktop.',
    linux: 'A remote desktop is running ({active_units}).',
  },
  'screen-sharing-disabled': 'Screen Sharing is on.',
  'remote-management-disabled': 'Remote Management is on.',
  'remote-apple-events-disabled': 'Remote Application Scripting is on.',
  'remote-access-tools': ['{name} {version} is installed.', '{name} is installed.'],
  'file-sharing-disabled': {
    darwin: 'File Sharing is on.',
    windows: ['Shared with the network: {share_names}.', 'Folders are shared with the network.'],
    linux: 'A file server is running ({active_units}).',
  },
  'internet-sharing-disabled': 'Internet Sharing is on.',
  'bluetooth-sharing-disabled': 'Bluetooth Sharing is on.',
  'printer-sharing-disabled': 'Printer Sharing is on.',
  'airdrop-not-open-to-everyone': 'AirDrop is open to everyone for the account {open_to_everyone}.',
  'hosts-file-unaltered': [
    [{ hostname: 'all names' }, 'Windows takes its hosts file from {address}.'],
    'The hosts file sends {hostname} to {address}.',
  ],
  'unexpected-root-certificates': [
    [{ place: 'this computer' }, 'The root certificate {name} was added for the whole computer.'],
    [{ place: 'an account' }, 'The root certificate {name} was added for an account.'],
    'The root certificate {name} was added in {place}.',
    [
      { place: 'this computer' },
      'A root certificate was added for the whole computer: {certificate}',
    ],
    [{ place: 'an account' }, 'A root certificate was added for an account: {certificate}'],
    'A root certificate was added: {place}',
  ],
  'smb1-disabled': 'Windows still speaks SMB 1.',
  'smb-signing-required': [
    [{ client_requires: '0' }, 'Windows opens files of servers that sign nothing.'],
    'Windows lets computers open its shares that sign nothing.',
  ],
  'ntlmv1-disabled': 'Windows answers with NTLM version 1 (level {compatibility_level}).',
  'llmnr-disabled': 'Nothing keeps Windows from asking its neighbours for names.',
  'chrome-up-to-date':
    'Google Chrome {version} is installed. At least version {minimum_major_version} is needed.',
  'edge-up-to-date':
    'Microsoft Edge {version} is installed. At least version {minimum_major_version} is needed.',
  'firefox-up-to-date':
    'Firefox {version} is installed. At least version {minimum_major_version} is needed.',
  'safari-up-to-date': outdatedApplication,
  'xcode-up-to-date': outdatedApplication,
  'office-up-to-date': outdatedApplication,
  'sideloaded-browser-extensions': [
    'The extension {name} of the browser {browser_type} does not come from its store.',
    'The extension in {path} does not come from the store of its browser.',
  ],
  'malicious-extensions': [
    'The extension {name} is installed in version {version}, which attackers published.',
    'The extension {identifier} is installed in a version that attackers published.',
  ],
  'compromised-packages':
    'The package {package} ({registry}) is installed in version {version}, which attackers published.',
  'banned-applications': ['{name} {version} is installed.', '{name} is installed.'],
  'suspicious-launch-items': [
    'The program {program} lies in a temporary folder, and {label} starts it by itself.',
    'A program in a temporary folder is started by {path}.',
  ],
  'mandatory-access-control': 'Neither SELinux nor AppArmor keeps programs in bounds.',
  'autorun-disabled': 'Windows may start programs from a drive as soon as it is plugged in.',
  'powershell-execution-policy': [
    'A policy has set PowerShell to {group_policy}.',
    'PowerShell is set to {machine_setting}.',
  ],
  'backups-encrypted': 'Time Machine backs up to the disk {alias}, which is not encrypted.',
  'disk-space': {
    darwin: 'Only {free_percent} % of the disk are free.',
    windows: [
      'Only {free_percent} % of the drive {drive} are free.',
      'Only {free_percent} % of the disk are free.',
    ],
    linux: 'Only {free_percent} % of the disk are free.',
  },
  'restarted-recently': 'The last restart was {uptime_days} days ago.',
  'restart-not-pending': 'An update is installed and waits for a restart.',
  'time-synchronised': {
    darwin: 'The clock is set by hand.',
    windows: [
      [{ service_start_type: 'disabled' }, 'The service Windows Time is disabled.'],
      'Windows sets its clock from no source of time.',
    ],
    linux: 'No service is running that sets the clock.',
  },
  'agent-up-to-date': 'osquery {version} is installed. At least {minimum_version} is needed.',
  'mdm-enrolled': 'No enrolment in device management was found.',
}

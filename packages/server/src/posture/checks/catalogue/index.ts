// The checks that come with the service, each in a file of its own or with its family. Owns their order; what
// a check is, is defined by `../check-definition.ts`, and what an organisation makes of it by its configuration.
// Checks of versions are made from release data.
import type { CheckDefinition } from '../check-definition.ts'
import { toCheckDefinition, type CatalogueEntry } from './catalogue-entry.ts'
import { accountsHavePasswords } from './accounts-have-passwords.ts'
import { agentUpToDate } from './agent-up-to-date.ts'
import { airdropNotOpenToEveryone } from './airdrop-not-open-to-everyone.ts'
import { antivirus } from './antivirus.ts'
import { appStoreAutomaticUpdates } from './app-store-automatic-updates.ts'
import { officeUpToDate, safariUpToDate, xcodeUpToDate } from './applications-up-to-date.ts'
import { automaticLoginDisabled } from './automatic-login-disabled.ts'
import { automaticUpdates } from './automatic-updates.ts'
import { autorunDisabled } from './autorun-disabled.ts'
import { backupsEncrypted } from './backups-encrypted.ts'
import { bannedApplications } from './banned-applications.ts'
import { chromeUpToDate, edgeUpToDate, firefoxUpToDate } from './browsers-up-to-date.ts'
import { compromisedPackages } from './compromised-packages.ts'
import { dataDrivesEncrypted } from './data-drives-encrypted.ts'
import { defenderExclusions } from './defender-exclusions.ts'
import { defenderRealTimeProtection } from './defender-real-time-protection.ts'
import { defenderTamperProtection } from './defender-tamper-protection.ts'
import { diskEncryption } from './disk-encryption.ts'
import { diskSpace } from './disk-space.ts'
import { endpointDetectionRunning } from './endpoint-detection-running.ts'
import { fileSharingDisabled } from './file-sharing-disabled.ts'
import { firewall } from './firewall.ts'
import { gatekeeper } from './gatekeeper.ts'
import { guestAccountDisabled } from './guest-account-disabled.ts'
import { hostsFileUnaltered } from './hosts-file-unaltered.ts'
import { linuxScreenLock } from './linux-screen-lock.ts'
import { notLocalAdministrator } from './local-administrator.ts'
import { credentialGuard, lsaProtection } from './lsa-protection.ts'
import {
  bluetoothSharingDisabled,
  internetSharingDisabled,
  printerSharingDisabled,
  remoteAppleEventsDisabled,
  remoteManagementDisabled,
  screenSharingDisabled,
} from './macos-sharing.ts'
import { maliciousExtensions } from './malicious-extensions.ts'
import { malwareDefinitionUpdates } from './malware-definition-updates.ts'
import { mandatoryAccessControl } from './mandatory-access-control.ts'
import { mdmEnrolled } from './mdm-enrolled.ts'
import { operatingSystemSupported } from './operating-system-supported.ts'
import { operatingSystemUpToDate } from './operating-system-up-to-date.ts'
import { passwordManagerInstalled } from './password-manager-installed.ts'
import { passwordPolicy } from './password-policy.ts'
import {
  plainTextCloudCredentials,
  plainTextRegistryCredentials,
} from './plain-text-credentials.ts'
import { passwordManagerKits, twoFactorBackupCodes } from './plain-text-secrets.ts'
import { powershellExecutionPolicy } from './powershell-execution-policy.ts'
import { BUILT_IN_RELEASE_DATA, type ReleaseData } from './release-data.ts'
import { remoteAccessTools } from './remote-access-tools.ts'
import { remoteDesktopDisabled } from './remote-desktop-disabled.ts'
import { remoteLoginDisabled } from './remote-login-disabled.ts'
import { restartNotPending } from './restart-not-pending.ts'
import { restartedRecently } from './restarted-recently.ts'
import { rootSshLoginDisabled } from './root-ssh-login-disabled.ts'
import { screenLock } from './screen-lock.ts'
import { secureBoot } from './secure-boot.ts'
import { sideloadedBrowserExtensions } from './sideloaded-browser-extensions.ts'
import { smb1Disabled } from './smb1-disabled.ts'
import { sshKeysEncrypted } from './ssh-keys-encrypted.ts'
import { sshPasswordLoginDisabled } from './ssh-password-login-disabled.ts'
import { sudoRequiresPassword } from './sudo-requires-password.ts'
import { suspiciousLaunchItems } from './suspicious-launch-items.ts'
import { systemIntegrityProtection } from './system-integrity-protection.ts'
import { timeSynchronised } from './time-synchronised.ts'
import { tpmReady } from './tpm-ready.ts'
import { unexpectedRootCertificates } from './unexpected-root-certificates.ts'
import { userAccountControl } from './user-account-control.ts'
import { llmnrDisabled, ntlmv1Disabled, smbSigningRequired } from './windows-network-protocols.ts'

const CATALOGUE: readonly (CatalogueEntry | ((data: ReleaseData) => CatalogueEntry))[] = [
  diskEncryption,
  dataDrivesEncrypted,
  firewall,
  screenLock,
  linuxScreenLock,
  automaticUpdates,
  appStoreAutomaticUpdates,
  operatingSystemUpToDate,
  operatingSystemSupported,
  antivirus,
  defenderRealTimeProtection,
  defenderTamperProtection,
  defenderExclusions,
  gatekeeper,
  systemIntegrityProtection,
  malwareDefinitionUpdates,
  endpointDetectionRunning,
  secureBoot,
  tpmReady,
  userAccountControl,
  lsaProtection,
  credentialGuard,
  automaticLoginDisabled,
  guestAccountDisabled,
  accountsHavePasswords,
  passwordPolicy,
  notLocalAdministrator,
  sudoRequiresPassword,
  sshKeysEncrypted,
  passwordManagerInstalled,
  twoFactorBackupCodes,
  passwordManagerKits,
  plainTextCloudCredentials,
  plainTextRegistryCredentials,
  remoteLoginDisabled,
  rootSshLoginDisabled,
  sshPasswordLoginDisabled,
  remoteDesktopDisabled,
  screenSharingDisabled,
  remoteManagementDisabled,
  remoteAppleEventsDisabled,
  remoteAccessTools,
  fileSharingDisabled,
  internetSharingDisabled,
  bluetoothSharingDisabled,
  printerSharingDisabled,
  airdropNotOpenToEveryone,
  hostsFileUnaltered,
  unexpectedRootCertificates,
  smb1Disabled,
  smbSigningRequired,
  ntlmv1Disabled,
  llmnrDisabled,
  chromeUpToDate,
  edgeUpToDate,
  firefoxUpToDate,
  safariUpToDate,
  xcodeUpToDate,
  officeUpToDate,
  sideloadedBrowserExtensions,
  maliciousExtensions,
  compromisedPackages,
  bannedApplications,
  suspiciousLaunchItems,
  mandatoryAccessControl,
  autorunDisabled,
  powershellExecutionPolicy,
  backupsEncrypted,
  diskSpace,
  restartedRecently,
  restartNotPending,
  timeSynchronised,
  agentUpToDate,
  mdmEnrolled,
]

/** Every check that comes with the service, in the order in which lists show them. */
export function createCatalogue(data: ReleaseData): readonly CheckDefinition[] {
  return CATALOGUE.map((entry) =>
    toCheckDefinition(typeof entry === 'function' ? entry(data) : entry),
  )
}

/** The catalogue with the release data that comes with the service. */
export const CHECK_CATALOGUE = createCatalogue(BUILT_IN_RELEASE_DATA)

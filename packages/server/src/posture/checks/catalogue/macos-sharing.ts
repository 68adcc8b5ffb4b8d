import type { CatalogueEntry } from './catalogue-entry.ts'
import { passOrFailSql } from './verdict-sql.ts'

/** Bluetooth Sharing of macOS is switched off for every account. */
export const bluetoothSharingDisabled = sharingSwitchOff('Bluetooth Sharing', {
  slug: 'bluetooth-sharing-disabled',
  name: 'Bluetooth sharing off',
  description: 'Bluetooth Sharing of macOS is switched off for every account.',
  issueTitle: 'Bluetooth sharing is on',
  topics: ['data-protection'],
  tags: ['Info'],
  queries: { darwin: sharingSwitchOffSql('bluetooth_sharing') },
  rationaleTemplate: `Bluetooth sharing lets devices nearby send files to this Mac and browse a folder on it. AirDrop does the same more safely.`,
  privacyInfo: 'Whether Bluetooth Sharing is on. No paired devices.',
  defaultStrategy: 'report_only',
  strategyReason: 'Short range and rarely used.',
})

/** Internet Sharing of macOS is switched off. */
export const internetSharingDisabled = sharingSwitchOff('Internet Sharing', {
  slug: 'internet-sharing-disabled',
  name: 'Internet sharing off',
  description: 'Internet Sharing of macOS is switched off.',
  issueTitle: 'Internet sharing is on',
  topics: ['network'],
  tags: ['Info'],
  queries: { darwin: sharingSwitchOffSql('internet_sharing') },
  rationaleTemplate: `With internet sharing this Mac is a router: unknown devices reach the network that it is on, in the name of {{ device.name }}, and past the network’s own protection.`,
  privacyInfo: 'Whether Internet Sharing is on. No connected devices.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Bypasses network controls, but is often on for a short time only.',
})

/** Printer Sharing of macOS is switched off. */
export const printerSharingDisabled = sharingSwitchOff('Printer Sharing', {
  slug: 'printer-sharing-disabled',
  name: 'Printer sharing off',
  description:
    'Printer Sharing of macOS is switched off. osquery takes it for off as well where the print system does not answer.',
  issueTitle: 'Printers are shared with the network',
  topics: ['network'],
  tags: ['Info'],
  queries: { darwin: sharingSwitchOffSql('printer_sharing') },
  rationaleTemplate: `With printer sharing this Mac takes print jobs from everyone on the network that it is on. The software behind it has had holes that let others run programs, and the printers themselves have to be reached by nobody through {{ device.name }}.`,
  privacyInfo: 'Whether Printer Sharing is on. No printers and no documents.',
  defaultStrategy: 'report_only',
  strategyReason: 'A small door, and some offices share a printer that way on purpose.',
})

/** Remote Apple Events of macOS are switched off. */
export const remoteAppleEventsDisabled = sharingSwitchOff('Remote Application Scripting', {
  slug: 'remote-apple-events-disabled',
  name: 'Remote Apple events off',
  description:
    'Remote Apple Events of macOS (Remote Application Scripting) are switched off: other computers cannot control the apps of the Mac.',
  issueTitle: 'Other computers may control the apps of this Mac',
  topics: ['remote-access'],
  tags: ['Important'],
  queries: { darwin: sharingSwitchOffSql('remote_apple_events') },
  rationaleTemplate: `Remote Apple events let programs on other computers control the apps of this Mac: open documents, read mail, run scripts. A password is all that stands before it, and hardly anyone uses it.`,
  privacyInfo: 'Whether Remote Apple Events are on. No apps and no scripts.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Off by default, fixed by one switch, and hardly anyone needs it.',
})

/** Remote Management (Apple Remote Desktop) of macOS is switched off. */
export const remoteManagementDisabled = sharingSwitchOff('Remote Management', {
  slug: 'remote-management-disabled',
  name: 'Remote management off',
  description: 'Remote Management (Apple Remote Desktop) of macOS is switched off.',
  issueTitle: 'Remote management is on',
  topics: ['remote-access'],
  tags: ['Info'],
  queries: { darwin: sharingSwitchOffSql('remote_management') },
  rationaleTemplate: `Remote Management gives others full control over this Mac: screen, files and software. Only your IT team has a use for it.`,
  privacyInfo: 'Whether Remote Management is on.',
  defaultStrategy: 'report_only',
  strategyReason: 'IT teams use it on purpose; they decide whether it may be on.',
})

/** Screen Sharing of macOS is switched off. */
export const screenSharingDisabled = sharingSwitchOff('Screen Sharing', {
  slug: 'screen-sharing-disabled',
  name: 'Screen sharing off',
  description: 'Screen Sharing of macOS is switched off.',
  issueTitle: 'Screen sharing is on',
  topics: ['remote-access'],
  tags: ['Important'],
  queries: { darwin: sharingSwitchOffSql('screen_sharing') },
  rationaleTemplate: `Screen sharing lets others on the network see and control this Mac. It is protected by nothing but a password that can be guessed. If you once switched it on for help, switch it off again.`,
  privacyInfo: 'Whether Screen Sharing is on. Nothing of the screen.',
  defaultStrategy: 'notify_only',
  strategyReason: 'A click to fix and seldom meant to be on, but no immediate danger.',
})

/** The steps that switch one service of the macOS Sharing settings off. */
export function switchSharingOff(service: string): readonly string[] {
  return [
    'Open the Apple menu > **System Settings** > **General** > **Sharing**.',
    `Switch **${service}** off.`,
  ]
}

/** SQL that passes when one switch of the macOS Sharing settings is off. */
export function sharingSwitchOffSql(
  column:
    | 'bluetooth_sharing'
    | 'file_sharing'
    | 'internet_sharing'
    | 'printer_sharing'
    | 'remote_apple_events'
    | 'remote_login'
    | 'remote_management'
    | 'screen_sharing',
): string {
  return passOrFailSql({
    facts: { [column]: `SELECT ${column} FROM sharing_preferences LIMIT 1` },
    pass: `${column} = 0`,
    fail: `${column} = 1`,
  })
}

function sharingSwitchOff(
  service: string,
  entry: Omit<CatalogueEntry, 'fix' | 'shelfLife'>,
): CatalogueEntry {
  return { ...entry, fix: { darwin: switchSharingOff(service) }, shelfLife: 'setting' }
}

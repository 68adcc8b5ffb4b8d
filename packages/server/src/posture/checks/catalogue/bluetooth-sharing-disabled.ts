import type { CheckDefinition } from '../check-definition.ts'
import { sharingSwitchOffSql } from './macos-sharing-sql.ts'
import { platformText, steps } from './platform-text.ts'
import { SHELF_LIFE_SETTING_SECONDS } from './shelf-life.ts'

/** Bluetooth Sharing of macOS is switched off for every account. */
export const bluetoothSharingDisabled: CheckDefinition = {
  slug: 'bluetooth-sharing-disabled',
  revision: 1,
  name: 'Bluetooth sharing off',
  description: 'Bluetooth Sharing of macOS is switched off for every account.',
  issueTitle: 'Bluetooth sharing is on',
  platforms: ['darwin'],
  topics: ['data-protection'],
  tags: ['Info'],
  queries: { darwin: sharingSwitchOffSql('bluetooth_sharing') },
  rationaleTemplate: `Bluetooth sharing lets devices nearby send files to this Mac and browse a folder on it. AirDrop does the same more safely.`,
  fixInstructionsTemplate: platformText({
    darwin: steps(
      'Open the Apple menu > **System Settings** > **General** > **Sharing**.',
      'Switch **Bluetooth Sharing** off.',
    ),
  }),
  privacyInfo: 'Whether Bluetooth Sharing is on. No paired devices.',
  defaultStrategy: 'report_only',
  graceDays: 0,
  strategyReason: 'Short range and rarely used.',
  authCheckRunShelfLifeSeconds: SHELF_LIFE_SETTING_SECONDS,
}

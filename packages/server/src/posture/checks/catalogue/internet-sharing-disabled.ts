import type { CheckDefinition } from '../check-definition.ts'
import { sharingSwitchOffSql } from './macos-sharing-sql.ts'
import { platformText, steps } from './platform-text.ts'
import { SHELF_LIFE_SETTING_SECONDS } from './shelf-life.ts'

/** Internet Sharing of macOS is switched off. */
export const internetSharingDisabled: CheckDefinition = {
  slug: 'internet-sharing-disabled',
  revision: 1,
  name: 'Internet sharing off',
  description: 'Internet Sharing of macOS is switched off.',
  issueTitle: 'Internet sharing is on',
  platforms: ['darwin'],
  topics: ['network'],
  tags: ['Info'],
  queries: { darwin: sharingSwitchOffSql('internet_sharing') },
  rationaleTemplate: `With internet sharing this Mac is a router: unknown devices reach the network that it is on, in the name of {{ device.name }}, and past the network’s own protection.`,
  fixInstructionsTemplate: platformText({
    darwin: steps(
      'Open the Apple menu > **System Settings** > **General** > **Sharing**.',
      'Switch **Internet Sharing** off.',
    ),
  }),
  privacyInfo: 'Whether Internet Sharing is on. No connected devices.',
  defaultStrategy: 'notify_only',
  graceDays: 0,
  strategyReason: 'Bypasses network controls, but is often on for a short time only.',
  authCheckRunShelfLifeSeconds: SHELF_LIFE_SETTING_SECONDS,
}

import type { CheckDefinition } from '../check-definition.ts'
import { sharingSwitchOffSql } from './macos-sharing-sql.ts'
import { platformText, steps } from './platform-text.ts'
import { SHELF_LIFE_SETTING_SECONDS } from './shelf-life.ts'

/** Screen Sharing of macOS is switched off. */
export const screenSharingDisabled: CheckDefinition = {
  slug: 'screen-sharing-disabled',
  revision: 1,
  name: 'Screen sharing off',
  description: 'Screen Sharing of macOS is switched off.',
  issueTitle: 'Screen sharing is on',
  platforms: ['darwin'],
  topics: ['remote-access'],
  tags: ['Important'],
  queries: { darwin: sharingSwitchOffSql('screen_sharing') },
  rationaleTemplate: `Screen sharing lets others on the network see and control this Mac. It is protected by nothing but a password that can be guessed. If you once switched it on for help, switch it off again.`,
  fixInstructionsTemplate: platformText({
    darwin: steps(
      'Open the Apple menu > **System Settings** > **General** > **Sharing**.',
      'Switch **Screen Sharing** off.',
    ),
  }),
  privacyInfo: 'Whether Screen Sharing is on. Nothing of the screen.',
  defaultStrategy: 'notify_only',
  graceDays: 0,
  strategyReason: 'A click to fix and seldom meant to be on, but no immediate danger.',
  authCheckRunShelfLifeSeconds: SHELF_LIFE_SETTING_SECONDS,
}

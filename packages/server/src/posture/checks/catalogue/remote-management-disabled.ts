import type { CheckDefinition } from '../check-definition.ts'
import { sharingSwitchOffSql } from './macos-sharing-sql.ts'
import { platformText, steps } from './platform-text.ts'
import { SHELF_LIFE_SETTING_SECONDS } from './shelf-life.ts'

/** Remote Management (Apple Remote Desktop) of macOS is switched off. */
export const remoteManagementDisabled: CheckDefinition = {
  slug: 'remote-management-disabled',
  revision: 1,
  name: 'Remote management off',
  description: 'Remote Management (Apple Remote Desktop) of macOS is switched off.',
  issueTitle: 'Remote management is on',
  platforms: ['darwin'],
  topics: ['remote-access'],
  tags: ['Info'],
  queries: { darwin: sharingSwitchOffSql('remote_management') },
  rationaleTemplate: `Remote Management gives others full control over this Mac: screen, files and software. Only your IT team has a use for it.`,
  fixInstructionsTemplate: platformText({
    darwin: steps(
      'Open the Apple menu > **System Settings** > **General** > **Sharing**.',
      'Switch **Remote Management** off.',
    ),
  }),
  privacyInfo: 'Whether Remote Management is on.',
  defaultStrategy: 'report_only',
  graceDays: 0,
  strategyReason: 'IT teams use it on purpose; they decide whether it may be on.',
  authCheckRunShelfLifeSeconds: SHELF_LIFE_SETTING_SECONDS,
}

import type { CatalogueEntry } from './catalogue-entry.ts'
import { verdictSql } from './verdict-sql.ts'

const PROFILE_SETTINGS = '/private/var/db/ConfigurationProfiles/Settings'

// osquery has no table of the enrolment itself. Automated enrolment leaves a mark; an enrolment by hand is seen
// by the settings that its profiles enforce.
const darwin = verdictSql({
  facts: {
    settings_seen: `SELECT COUNT(*) FROM file WHERE path = '${PROFILE_SETTINGS}'`,
    automated_enrolment: `SELECT COUNT(*) FROM file WHERE path = '${PROFILE_SETTINGS}/.cloudConfigProfileInstalled'`,
    enforced_settings: `SELECT COUNT(*) FROM managed_policies`,
  },
  cases: [
    ['PASS', `automated_enrolment > 0 OR enforced_settings > 0`],
    ['FAIL', `settings_seen > 0`],
  ],
})

const ENROLMENTS = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Enrollments`

// Every Windows has keys of enrolments that never took place; only a real one has a provider and the state 1.
const windows = verdictSql({
  with: String.raw`enrolments AS (SELECT key, name, data FROM registry WHERE key LIKE '${ENROLMENTS}\%')`,
  facts: {
    keys_seen: `SELECT COUNT(*) FROM registry WHERE key = '${ENROLMENTS}'`,
    provider: `SELECT p.data FROM enrolments p JOIN enrolments s ON s.key = p.key
    WHERE p.name = 'ProviderID' AND p.data <> '' AND s.name = 'EnrollmentState' AND s.data = '1' LIMIT 1`,
  },
  cases: [
    ['PASS', `provider IS NOT NULL`],
    ['FAIL', `keys_seen > 0`],
  ],
})

/** The device is enrolled in mobile device management. */
export const mdmEnrolled: CatalogueEntry = {
  slug: 'mdm-enrolled',
  name: 'MDM enrolled',
  description:
    'The device is enrolled in mobile device management (MDM). Windows says so itself; on macOS it follows from the mark of an automated enrolment or from settings that a profile enforces.',
  issueTitle: 'The device is not enrolled in MDM',
  topics: ['management'],
  tags: ['Info'],
  queries: { darwin, windows },
  rationaleTemplate: `{{ organisation.name | default: "Your organisation" }} looks after its devices through mobile device management: it switches protection on, brings updates and can erase a device that was stolen. {{ device.name }} is not part of it.`,
  fix: {
    darwin: [
      'Open the Apple menu > **System Settings** > **General** > **Device Management**. If a profile waits there, open it and choose **Enroll** or **Install**.',
      'If the list is empty, open the enrolment page that your IT team gave you, or ask them for it, and follow its steps.',
    ],
    windows: [
      'Open **Settings** > **Accounts** > **Access work or school**.',
      'Choose **Connect** and sign in with your work account. If it is connected already, choose it > **Info** > **Sync**.',
      'If **Info** is not offered, your account is not allowed to enrol: ask your IT team.',
    ],
  },
  privacyInfo:
    'Whether the device is enrolled, on Windows the kind of server, on macOS how many settings profiles enforce.',
  defaultStrategy: 'report_only',
  strategyReason: 'Only organisations with an MDM should expect it; those may well block.',
  shelfLife: 'software',
}

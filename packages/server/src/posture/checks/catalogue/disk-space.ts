import type { CatalogueEntry } from './catalogue-entry.ts'
import { verdictSql, type VerdictCase } from './verdict-sql.ts'

const FREE_PERCENT_MIN = 5

const cases: readonly VerdictCase[] = [
  ['PASS', `free_percent >= ${FREE_PERCENT_MIN}`],
  ['FAIL', `free_percent < ${FREE_PERCENT_MIN}`],
]

const freePercentOfMount = (path: string) =>
  `SELECT CAST(100.0 * blocks_available / blocks AS INTEGER) FROM mounts WHERE path = '${path}' AND blocks > 0 LIMIT 1`

// On macOS the volume at / is a sealed snapshot; the files of people are on the data volume.
const darwin = verdictSql({
  facts: {
    free_percent: `SELECT COALESCE((${freePercentOfMount('/System/Volumes/Data')}), (${freePercentOfMount('/')}))`,
  },
  cases,
})

const windows = verdictSql({
  facts: {
    drive: `SELECT device_id FROM logical_drives WHERE boot_partition = 1 LIMIT 1`,
    free_percent: `SELECT CAST(100.0 * free_space / size AS INTEGER) FROM logical_drives WHERE boot_partition = 1 AND size > 0 AND free_space >= 0 LIMIT 1`,
  },
  cases,
})

const linux = verdictSql({
  facts: { free_percent: freePercentOfMount('/') },
  cases,
})

/** The system disk has room for updates. */
export const diskSpace: CatalogueEntry = {
  slug: 'disk-space',
  name: 'Free disk space',
  description: `At least ${FREE_PERCENT_MIN} percent of the system disk are free.`,
  issueTitle: 'The disk is nearly full',
  topics: ['maintenance'],
  tags: ['Info'],
  queries: { darwin, windows, linux },
  rationaleTemplate: `Only {{ issue.value.free_percent }} percent of the disk are free. Updates need room: without it they fail silently, and {{ device.name }} falls behind.`,
  fix: {
    darwin: [
      'Empty the **Trash**.',
      'Open the Apple menu > **System Settings** > **General** > **Storage** and follow the recommendations there.',
    ],
    windows: [
      'Open **Settings** > **System** > **Storage** > **Cleanup recommendations**.',
      'Tick what you do not need any more and choose **Clean up**.',
      'Switch **Storage Sense** on, so that Windows does it by itself.',
    ],
    linux: [
      'Open **Disk Usage Analyzer** (package `baobab`) to see what takes the room.',
      'Empty the trash, and run `sudo apt autoremove` or `sudo dnf autoremove`.',
      'Limit the system log: `sudo journalctl --vacuum-size=500M`.',
    ],
  },
  privacyInfo: 'How much of the system disk is free. No file names.',
  defaultStrategy: 'report_only',
  strategyReason: 'A cause of missing updates, not a weakness itself.',
  shelfLife: 'software',
}

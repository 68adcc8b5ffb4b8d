import type { CatalogueEntry } from './catalogue-entry.ts'
import { registryValueSql, verdictSql } from './verdict-sql.ts'

const EXPLORER_POLICIES = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\Explorer`

// 255 is the bit mask of all kinds of drives; NoAutorun 1 runs no commands of a medium.
const windows = verdictSql({
  facts: {
    no_drive_type_auto_run: registryValueSql(`${EXPLORER_POLICIES}\\NoDriveTypeAutoRun`),
    no_autorun: registryValueSql(`${EXPLORER_POLICIES}\\NoAutorun`),
  },
  cases: [['PASS', `no_drive_type_auto_run = '255' OR no_autorun = '1'`]],
  otherwise: 'FAIL',
})

/** Windows runs nothing by itself from a drive that is plugged in. */
export const autorunDisabled: CatalogueEntry = {
  slug: 'autorun-disabled',
  name: 'AutoRun off',
  description: 'Windows starts nothing by itself from drives that are plugged in.',
  issueTitle: 'AutoRun is on',
  topics: ['malware'],
  tags: ['Info'],
  queries: { windows },
  rationaleTemplate: `A prepared USB drive, found in the car park or handed out at a fair, should not be able to start anything by itself.`,
  fix: {
    windows: [
      'Open **Start**, type `Terminal`, right-click it and choose **Run as administrator**.',
      String.raw`Run ${'`'}reg add HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\Explorer /v NoDriveTypeAutoRun /t REG_DWORD /d 255 /f${'`'}.`,
      'Open **Settings** > **Bluetooth & devices** > **AutoPlay** and switch **Use AutoPlay for all media and devices** off.',
    ],
  },
  privacyInfo: 'The AutoRun settings of Windows. No drives and no files.',
  defaultStrategy: 'report_only',
  strategyReason: 'Hardening beyond the default of Windows, best set for all by policy.',
  shelfLife: 'setting',
}

import type { CatalogueEntry } from './catalogue-entry.ts'
import { CONTROL_SET, LSA_KEY, registryDataSql, registryEntriesSql } from './registry-sql.ts'
import { verdictSql } from './verdict-sql.ts'

// RunAsPPL: 1 on and locked in the firmware, 2 on without that lock. The process itself tells where osquery
// knows its protection: what the firmware holds stays on whatever the registry says.
const lsaProtectionSql = verdictSql({
  facts: {
    lsa_settings_seen: registryEntriesSql(LSA_KEY),
    run_as_ppl: registryDataSql(LSA_KEY, 'RunAsPPL'),
    process_protection: `SELECT protection_type FROM processes WHERE lower(name) = 'lsass.exe' LIMIT 1`,
  },
  cases: [
    ['PASS', `process_protection LIKE '%Lsa%'`],
    ['PASS', `run_as_ppl IN ('1', '2')`],
    ['FAIL', `lsa_settings_seen > 0`],
  ],
})

// With Credential Guard on, the secrets are in a process of their own, apart from Windows.
const credentialGuardSql = verdictSql({
  facts: {
    edition: `SELECT name FROM os_version LIMIT 1`,
    processes_seen: `SELECT COUNT(*) FROM processes`,
    isolated_process: `SELECT name FROM processes WHERE lower(name) = 'lsaiso.exe' LIMIT 1`,
    configured: registryDataSql(LSA_KEY, 'LsaCfgFlags'),
    configured_by_policy: registryDataSql(
      String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Policies\Microsoft\Windows\DeviceGuard`,
      'LsaCfgFlags',
    ),
    virtualisation_based_security: registryDataSql(
      String.raw`${CONTROL_SET}\Control\DeviceGuard`,
      'EnableVirtualizationBasedSecurity',
    ),
  },
  cases: [
    ['PASS', `isolated_process IS NOT NULL`],
    ['UNKNOWN', `processes_seen = 0 OR edition IS NULL`],
    ['FAIL', `edition LIKE '%Enterprise%' OR edition LIKE '%Education%'`],
    ['INAPPLICABLE', `edition IS NOT NULL`],
  ],
})

/** Windows keeps other programs away from the process that knows the passwords. */
export const lsaProtection: CatalogueEntry = {
  slug: 'lsa-protection',
  name: 'LSA protection',
  description:
    'The local security authority of Windows runs as a protected process, or is set to from the next restart on.',
  issueTitle: 'The local security authority is not protected',
  topics: ['access'],
  tags: ['Important'],
  queries: { windows: lsaProtectionSql },
  rationaleTemplate: `One process of Windows, the local security authority, holds the passwords and tickets of everyone who is signed in. Unprotected, a harmful program with administrator rights reads them out in seconds and goes on to the next computer.`,
  fix: {
    windows: [
      'Open **Start**, type `Windows Security`, open it and choose **Device security** > **Core isolation details**.',
      'Switch **Local Security Authority protection** on and restart.',
      'If the switch is missing or cannot be changed, ask your IT team: a policy can set it.',
    ],
  },
  privacyInfo: 'Whether the local security authority is protected. No passwords and no sessions.',
  defaultStrategy: 'notify_only',
  strategyReason:
    'On by default on new PCs; old drivers for smart cards or passwords may not work with it.',
  shelfLife: 'setting',
}

/** Windows keeps the secrets of signed-in people apart from itself. */
export const credentialGuard: CatalogueEntry = {
  slug: 'credential-guard',
  name: 'Credential Guard',
  description:
    'Credential Guard of Windows is running. Applies to the editions that are licensed for it: Enterprise and Education.',
  issueTitle: 'Credential Guard is not running',
  topics: ['access'],
  tags: ['Info'],
  queries: { windows: credentialGuardSql },
  rationaleTemplate: `Credential Guard keeps the secrets of people who are signed in where even Windows itself cannot read them. Without it, whoever takes over {{ device.name }} takes over their accounts as well.`,
  fix: {
    windows: [
      'Your IT team switches Credential Guard on for your organisation: send it this page.',
      'For a single PC: open **Start**, type `gpedit`, open **Edit group policy** and go to **Computer Configuration** > **Administrative Templates** > **System** > **Device Guard**.',
      'Open **Turn On Virtualization Based Security**, choose **Enabled**, set **Credential Guard Configuration** to **Enabled without lock**, choose **OK** and restart.',
      'If it still does not run, virtualisation or Secure Boot is off in the firmware of the PC.',
    ],
  },
  privacyInfo:
    'The edition of Windows, whether Credential Guard runs and how it is set. No other processes.',
  defaultStrategy: 'report_only',
  strategyReason: 'Needs hardware, firmware settings and an edition that not every PC has.',
  shelfLife: 'software',
}

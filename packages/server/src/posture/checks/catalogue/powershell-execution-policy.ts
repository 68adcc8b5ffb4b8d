import type { CatalogueEntry } from './catalogue-entry.ts'
import { registryValueSql, verdictSql } from './verdict-sql.ts'

// A group policy wins. Without any setting Windows restricts scripts.
const windows = verdictSql({
  facts: {
    group_policy: registryValueSql(
      String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Policies\Microsoft\Windows\PowerShell\ExecutionPolicy`,
    ),
    machine_setting: registryValueSql(
      String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\PowerShell\1\ShellIds\Microsoft.PowerShell\ExecutionPolicy`,
    ),
  },
  cases: [['FAIL', `COALESCE(group_policy, machine_setting) IN ('Bypass', 'Unrestricted')`]],
  otherwise: 'PASS',
})

/** PowerShell does not run every downloaded script without asking. */
export const powershellExecutionPolicy: CatalogueEntry = {
  slug: 'powershell-execution-policy',
  name: 'PowerShell execution policy',
  description: 'PowerShell does not run unsigned scripts from the internet for all users.',
  issueTitle: 'PowerShell runs any script',
  topics: ['malware'],
  tags: ['Info'],
  queries: { windows },
  rationaleTemplate: `Scripts are a favourite tool of attackers. With the present setting PowerShell runs any of them, also one that came by mail.`,
  fix: {
    windows: [
      'Open **Start**, type `Terminal`, right-click it and choose **Run as administrator**.',
      'Run `Set-ExecutionPolicy -ExecutionPolicy RemoteSigned -Scope LocalMachine` and answer **Y**. Your own scripts keep working.',
      'If that is refused, a policy of your organisation sets it: ask your IT team.',
    ],
  },
  privacyInfo: 'The execution policy of PowerShell. No scripts and no history.',
  defaultStrategy: 'report_only',
  strategyReason: 'A safeguard against mistakes, not against an attacker; developers change it.',
  shelfLife: 'setting',
}

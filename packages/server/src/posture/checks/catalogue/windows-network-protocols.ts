import type { CatalogueEntry } from './catalogue-entry.ts'
import { CONTROL_SET, LSA_KEY, registryDataSql, registryEntriesSql } from './registry-sql.ts'
import { verdictSql } from './verdict-sql.ts'

const SERVICES = String.raw`${CONTROL_SET}\Services`

// 0 switches it off; without the policy Windows asks every neighbour.
const llmnrSql = verdictSql({
  facts: {
    dns_client_seen: registryEntriesSql(`${SERVICES}\\Dnscache`),
    enable_multicast: registryDataSql(
      String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Policies\Microsoft\Windows NT\DNSClient`,
      'EnableMulticast',
    ),
  },
  cases: [
    ['PASS', `enable_multicast = '0'`],
    ['FAIL', `dns_client_seen > 0`],
  ],
})

// Below 3 Windows sends answers of NTLM version 1. Without a value it behaves as with 3.
const ntlmSql = verdictSql({
  facts: {
    lsa_settings_seen: registryEntriesSql(LSA_KEY),
    compatibility_level: registryDataSql(LSA_KEY, 'LmCompatibilityLevel'),
  },
  cases: [
    ['UNKNOWN', `lsa_settings_seen = 0`],
    ['FAIL', `CAST(compatibility_level AS INTEGER) < 3`],
  ],
  otherwise: 'PASS',
})

const FIRST_BUILD_THAT_SIGNS = 26_100

// Of Windows 11 from 24H2 on, these editions require signing where nothing is set; older ones do not. What
// the other editions do then is not taken for granted.
const smbSigningSql = verdictSql({
  with: `defaults(required) AS (
  SELECT CASE
    WHEN CAST(build AS INTEGER) < ${FIRST_BUILD_THAT_SIGNS} THEN '0'
    WHEN name LIKE '%Windows 11%' AND (name LIKE '%Pro%' OR name LIKE '%Enterprise%' OR name LIKE '%Education%') THEN '1'
  END FROM os_version LIMIT 1
)`,
  facts: {
    client_requires: `SELECT COALESCE((${registryDataSql(`${SERVICES}\\LanmanWorkstation\\Parameters`, 'RequireSecuritySignature')}), (SELECT required FROM defaults))`,
    server_requires: `SELECT COALESCE((${registryDataSql(`${SERVICES}\\LanmanServer\\Parameters`, 'RequireSecuritySignature')}), (SELECT required FROM defaults))`,
    server_start_type: `SELECT start_type FROM services WHERE name = 'LanmanServer' LIMIT 1`,
  },
  cases: [
    ['FAIL', `client_requires = '0'`],
    ['FAIL', `server_requires = '0' AND COALESCE(server_start_type, '') <> 'DISABLED'`],
    ['PASS', `client_requires = '1' AND (server_requires = '1' OR server_start_type = 'DISABLED')`],
  ],
})

const AS_ADMINISTRATOR =
  'Open **Start**, type `Terminal`, right-click it and choose **Run as administrator**.'

/** Windows does not ask its neighbours for names. */
export const llmnrDisabled: CatalogueEntry = {
  slug: 'llmnr-disabled',
  name: 'LLMNR off',
  description:
    'Windows does not ask all devices on the local network for names that the name server does not know (LLMNR).',
  issueTitle: 'Windows asks every device on the network for names',
  topics: ['network'],
  tags: ['Info'],
  queries: { windows: llmnrSql },
  rationaleTemplate: `When a name is mistyped, Windows asks all devices on the same network who it is, and believes the first answer. An attacker in the same café answers, and {{ device.name }} hands over a proof of your password that can be cracked.`,
  fix: {
    windows: [
      'Your IT team sets this for all PCs by the policy **Turn off multicast name resolution**. For a single PC:',
      AS_ADMINISTRATOR,
      String.raw`Run ${'`'}reg add "HKLM\SOFTWARE\Policies\Microsoft\Windows NT\DNSClient" /v EnableMulticast /t REG_DWORD /d 0 /f${'`'} and restart.`,
    ],
  },
  privacyInfo: 'Whether LLMNR is on. No names that were asked for.',
  defaultStrategy: 'report_only',
  strategyReason: 'Hardening beyond the default of Windows, best set for all by policy.',
  shelfLife: 'setting',
}

/** Windows does not use the first version of NTLM. */
export const ntlmv1Disabled: CatalogueEntry = {
  slug: 'ntlmv1-disabled',
  name: 'NTLMv1 off',
  description: 'Windows does not prove passwords by the outdated version 1 of NTLM, or by LM.',
  issueTitle: 'Windows uses the outdated NTLM version 1',
  topics: ['network', 'access'],
  tags: ['Important'],
  queries: { windows: ntlmSql },
  rationaleTemplate: `NTLM version 1 proves a password to a server in a form that anyone on the way can crack within hours. Windows has not used it by itself since 2007: somebody has switched it on again.`,
  fix: {
    windows: [
      AS_ADMINISTRATOR,
      String.raw`Run ${'`'}reg add HKLM\SYSTEM\CurrentControlSet\Control\Lsa /v LmCompatibilityLevel /t REG_DWORD /d 5 /f${'`'} and restart.`,
      'If the value comes back, a policy of your organisation sets it: ask your IT team. An old file server or printer may need an update first.',
    ],
  },
  privacyInfo: 'The level of NTLM that Windows uses. No passwords and no sign-ins.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Never the default; only very old servers still need it.',
  shelfLife: 'setting',
}

/** Windows signs what it says to file servers, and demands the same. */
export const smbSigningRequired: CatalogueEntry = {
  slug: 'smb-signing-required',
  name: 'SMB signing required',
  description:
    'Windows demands signatures when it uses or offers shared folders (SMB). Unknown on Home and Server editions from Windows 11 24H2 on where nothing is set.',
  issueTitle: 'Windows does not demand signatures of file servers',
  topics: ['network'],
  tags: ['Info'],
  queries: { windows: smbSigningSql },
  rationaleTemplate: `Without signatures an attacker on the same network can stand between {{ device.name }} and a file server, change what goes over it, and use your sign-in for itself.`,
  fix: {
    windows: [
      AS_ADMINISTRATOR,
      'Run `Set-SmbClientConfiguration -RequireSecuritySignature $true -Force`.',
      'Run `Set-SmbServerConfiguration -RequireSecuritySignature $true -Force`.',
      'If a printer or a network drive stops working, it cannot sign: ask your IT team.',
    ],
  },
  privacyInfo:
    'Whether SMB signing is required, and the build of Windows. No servers and no files.',
  defaultStrategy: 'report_only',
  strategyReason: 'The default only of the newest Windows; old printers and storage cannot sign.',
  shelfLife: 'setting',
}

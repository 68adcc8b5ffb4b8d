import type { CatalogueEntry } from './catalogue-entry.ts'
import { failingRowsSql, isEmptySql, quoteListSql } from './verdict-sql.ts'

const COLUMNS = ['certificate', 'name', 'place'] as const

const SYSTEM_KEYCHAIN = '/Library/Keychains/System.keychain'
/** What every Mac makes for itself. */
const MAC_OWN_NAMES = ['com.apple.kerberos.kdc', 'com.apple.systemdefault']

// The keychains of people are left alone: releases of osquery before 5.23 can harm them when they read them.
const darwin = failingRowsSql(
  COLUMNS,
  `SELECT upper(sha1), common_name, path FROM certificates
WHERE path = '${SYSTEM_KEYCHAIN}' AND ca = 1 AND self_signed = 1
  AND common_name NOT IN (${quoteListSql(MAC_OWN_NAMES)})`,
  [['UNKNOWN', isEmptySql(`certificates WHERE path = '${SYSTEM_KEYCHAIN}'`)]],
)

const LOCAL_MACHINE = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\SystemCertificates`
const MACHINE_ROOTS = String.raw`${LOCAL_MACHINE}\ROOT\Certificates`
const PUBLIC_ROOTS = String.raw`${LOCAL_MACHINE}\AuthRoot\Certificates`
const USER_ROOTS = String.raw`HKEY_USERS\%\Software\Microsoft\SystemCertificates\Root\Certificates\%`

/** Roots that Windows comes with beside those of the public programme. https://support.microsoft.com/kb/293781 */
const WINDOWS_OWN_ROOTS = [
  '0119E81BE9A14CD8E22F40AC118C687ECBA3F4D8',
  '06F1AA330B927B753A40E68CDF22E34BCBEF3352',
  '18F7C1FCC3090203FD5BAA2F861A754976C8DD25',
  '245C97DF7514E7CF2DF8BE72AE957B9E04741E85',
  '31F9FC8BA3805986B721EA7295C65B3A44534274',
  '3B1EFD3A66EA28B16697394703A72CA340A05BD5',
  '73A5E64A3BFF8316FF0EDCCC618A906E4EAE4D74',
  '7F88CD7223F3C813818C994614A89C99FA3B5247',
  '8F43288AD272F3103B6FB1428485EA3014C0BCFE',
  '92B46C76E13054E104F230517E6E504D43AB10B5',
  '999A64C37FF47D9FAB95F14769891460EEC4C3C5',
  'A43489159A520F0D93D032CCAF37E7FE20A8B419',
  'BE36A4562FB2EE05DBB3D32323ADF445084ED656',
  'CDD4EEAE6000AC7F40C3802C171E30148030C072',
  'F40042E2E5F7E8EF8189FED15519AECE42C3BFA2',
]

// The stores by their keys, for their names depend on the language of Windows. What group policy and Active
// Directory hand out is kept under other keys, and is the organisation's own.
const windows = failingRowsSql(
  COLUMNS,
  `SELECT added.thumbprint,
  COALESCE((SELECT common_name FROM names WHERE sha1 = added.thumbprint LIMIT 1), ''), added.place
FROM added
WHERE added.thumbprint NOT IN (${quoteListSql(WINDOWS_OWN_ROOTS)})
  AND added.thumbprint NOT IN (SELECT upper(name) FROM registry WHERE key = '${PUBLIC_ROOTS}')`,
  [['UNKNOWN', isEmptySql(`registry WHERE key = '${MACHINE_ROOTS}'`)]],
  `added(thumbprint, place) AS MATERIALIZED (
  SELECT upper(name), 'this computer' FROM registry WHERE key = '${MACHINE_ROOTS}' AND length(name) = 40
  UNION
  SELECT upper(name), 'an account' FROM registry WHERE path LIKE '${USER_ROOTS}' AND length(name) = 40
),
names(sha1, common_name) AS MATERIALIZED (SELECT upper(sha1), common_name FROM certificates)`,
)

/** Where distributions take the roots from that an administrator adds. */
const ANCHOR_FOLDERS = [
  '/usr/local/share/ca-certificates/%.crt',
  '/usr/local/share/ca-certificates/%/%.crt',
  '/etc/pki/ca-trust/source/anchors/%',
  '/etc/pki/trust/anchors/%',
  '/etc/ca-certificates/trust-source/anchors/%',
]
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
]

const linux = failingRowsSql(
  COLUMNS,
  `SELECT COALESCE(upper(c.sha1), a.path), COALESCE(c.common_name, ''), a.path
FROM anchors a LEFT JOIN certificates c ON c.path = a.path`,
  [['UNKNOWN', isEmptySql(`file WHERE path IN (${quoteListSql(BUNDLES)})`)]],
  `anchors(path) AS MATERIALIZED (
  ${ANCHOR_FOLDERS.map((folder) => `SELECT path FROM file WHERE path LIKE '${folder}' AND type <> 'directory'`).join('\n  UNION\n  ')}
)`,
)

/** Nobody has added a root certificate that does not come with the system. */
export const unexpectedRootCertificates: CatalogueEntry = {
  slug: 'unexpected-root-certificates',
  name: 'No unexpected root certificates',
  description:
    'No root certificate was added to those that come with the system: on macOS in the system keychain, on Windows for the computer or people who are signed in (what group policy and Active Directory hand out does not count), on Linux in the folders for additional ones. Exempt those of your organisation.',
  issueTitle: 'A root certificate was added',
  topics: ['network', 'malware'],
  tags: ['Important'],
  queries: { darwin, windows, linux },
  primaryKeyColumn: 'certificate',
  rationaleTemplate: `Whoever owns the certificate {{ issue.value.name | code }} can pretend to be any website towards {{ device.name }}, your bank as well as your mail, and the lock in the browser stays closed. Organisations, developers and some antivirus products add one on purpose; advertising software and attackers do as well.`,
  fix: {
    darwin: [
      'If the certificate belongs to your organisation or to your work, ask for an exemption.',
      'Otherwise open **Keychain Access** and choose **System** > **Certificates**.',
      'Right-click {{ issue.value.name | code }}, choose **Delete** and enter your password. Then remove the program that added it.',
    ],
    windows: [
      'If the certificate belongs to your organisation or to your work, ask for an exemption.',
      'Otherwise open **Start**, type `certlm.msc` (for an account: `certmgr.msc`) and open it.',
      'Choose **Trusted Root Certification Authorities** > **Certificates**, right-click {{ issue.value.name | code }} and choose **Delete**. Its thumbprint is {{ issue.value.certificate | code }}. Then remove the program that added it.',
    ],
    linux: [
      'If the certificate belongs to your organisation or to your work, ask for an exemption.',
      'Otherwise open a terminal and delete the file with `sudo rm` and this path: {{ issue.value.place | code }}',
      'Ubuntu and Debian: `sudo update-ca-certificates --fresh`. Fedora, Red Hat and Arch: `sudo update-ca-trust`.',
    ],
  },
  privacyInfo:
    'Name, fingerprint and place of root certificates that were added. No other certificates and no keys.',
  defaultStrategy: 'report_only',
  strategyReason: 'Often added on purpose; admins should look at each and exempt their own.',
  shelfLife: 'software',
}

import type { CatalogueEntry } from './catalogue-entry.ts'
import { failingRowsSql, isEmptySql, likeAnySql } from './verdict-sql.ts'

// Places that every program may write to and that no installer uses for something to keep.
const TEMPORARY_FOLDERS = [
  '/private/tmp/%',
  '/private/var/tmp/%',
  '/tmp/%',
  '/Users/Shared/%',
  '/var/tmp/%',
]

const darwin = failingRowsSql(
  ['path', 'label', 'program'],
  `SELECT path, label, COALESCE(NULLIF(program, ''), program_arguments)
FROM launchd
WHERE path NOT LIKE '/System/%'
  AND ${likeAnySql(`COALESCE(NULLIF(program, ''), program_arguments, '')`, TEMPORARY_FOLDERS)}`,
  [['UNKNOWN', isEmptySql('launchd')]],
)

/** Nothing that starts by itself lies in a temporary folder. */
export const suspiciousLaunchItems: CatalogueEntry = {
  slug: 'suspicious-launch-items',
  revision: 2,
  name: 'No suspicious launch items',
  description:
    'No launch agent or launch daemon of macOS starts a program from a temporary or shared folder.',
  issueTitle: 'A program in a temporary folder starts by itself',
  topics: ['malware'],
  tags: ['Important'],
  queries: { darwin },
  primaryKeyColumn: 'path',
  rationaleTemplate: `The file {{ issue.value.path | code }} makes macOS start {{ issue.value.program | code }} again and again. Honest software is not kept in that folder; harmful software often is.`,
  fix: {
    darwin: `Do not open or delete the file yet: your security team may want to look at it.

1. Tell your IT team the name of this Mac and the path {{ issue.value.path | code }}.
2. If you know the program and have installed it yourself, install it again in **Applications** and ask for an exemption meanwhile.`,
  },
  privacyInfo:
    'Path, label and program of launch items that start from temporary or shared folders.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Needs a human look: mostly harmless leftovers, sometimes an intrusion.',
  shelfLife: 'software',
}

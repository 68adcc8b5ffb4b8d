import { verdictSql } from './verdict-sql.ts'

/** SQL that passes when one switch of the macOS Sharing settings is off. */
export function sharingSwitchOffSql(
  column:
    | 'bluetooth_sharing'
    | 'file_sharing'
    | 'internet_sharing'
    | 'remote_management'
    | 'screen_sharing',
): string {
  return verdictSql({
    facts: { [column]: `SELECT ${column} FROM sharing_preferences LIMIT 1` },
    cases: [
      ['PASS', `${column} = 0`],
      ['FAIL', `${column} = 1`],
    ],
    otherwise: 'UNKNOWN',
  })
}

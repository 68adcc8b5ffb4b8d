import type { ReportingTable } from '../reporting-table.ts'
import { EVERY_HOUR, inCategory, text, whole } from './table-parts.ts'

/** Who has an account and what keys they hold. */
export const ACCOUNT_TABLES: readonly ReportingTable[] = inCategory('Accounts', [
  {
    name: 'users',
    description: 'Local accounts.',
    columns: [
      whole('uid', 'User id'),
      whole('gid', 'Group id'),
      text('username', 'Name'),
      text('description', 'Full name or purpose'),
      text('directory', 'Home folder'),
      text('shell', 'Shell'),
    ],
  },
  {
    name: 'groups',
    description: 'Local groups.',
    columns: [whole('gid', 'Group id'), text('groupname', 'Name')],
  },
  {
    name: 'logged_in_users',
    description: 'Who is logged in.',
    intervalSeconds: EVERY_HOUR,
    columns: [
      text('type', 'Kind of session'),
      text('user', 'Name'),
      text('tty', 'Terminal'),
      text('host', 'Where from'),
      whole('time', 'Since when, in seconds since the epoch'),
    ],
  },
  {
    name: 'user_ssh_keys',
    description: 'Private SSH keys, without their content.',
    condition: 'uid in (select uid from users)',
    columns: [
      whole('uid', 'User'),
      text('path', 'File'),
      whole('encrypted', '1 when it has a passphrase'),
      text('key_type', 'Algorithm'),
    ],
  },
])

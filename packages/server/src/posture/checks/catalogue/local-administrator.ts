import type { CatalogueEntry } from './catalogue-entry.ts'
import { quoteListSql, verdictSql } from './verdict-sql.ts'

interface AdministratorFacts {
  /** SELECT of `uid` and `username` of the people who are signed in. */
  readonly signedIn: string
  /** SELECT of `gid` of the groups whose members administer the device. */
  readonly administratorGroups: string
}

// An account of the directory whose groups the agent cannot see has no membership at all, not even of `Users`.
function toQuery({ signedIn, administratorGroups }: AdministratorFacts): string {
  return verdictSql({
    with: `signed_in AS (${signedIn}),
memberships AS (SELECT s.uid, s.username, g.gid FROM signed_in s CROSS JOIN user_groups g ON g.uid = s.uid),
administrator_groups AS (${administratorGroups})`,
    facts: {
      signed_in: `SELECT group_concat(username, ', ') FROM signed_in`,
      administrators: `SELECT group_concat(username, ', ') FROM (SELECT DISTINCT username FROM memberships WHERE gid IN (SELECT gid FROM administrator_groups))`,
      accounts_without_groups: `SELECT COUNT(*) FROM signed_in WHERE uid NOT IN (SELECT uid FROM memberships)`,
      administrator_groups: `SELECT COUNT(*) FROM administrator_groups`,
    },
    cases: [
      ['FAIL', `administrators IS NOT NULL`],
      ['UNKNOWN', `signed_in IS NULL OR accounts_without_groups > 0 OR administrator_groups = 0`],
    ],
    otherwise: 'PASS',
  })
}

const groupsNamed = (names: readonly string[]) =>
  `SELECT gid FROM groups WHERE groupname IN (${quoteListSql(names)})`

const darwin = toQuery({
  signedIn: `SELECT DISTINCT u.uid, u.username FROM logged_in_users l CROSS JOIN users u ON u.username = l.user
  WHERE l.type = 'user' AND l.tty = 'console'`,
  administratorGroups: groupsNamed(['admin']),
})

// Groups of Windows have other names in other languages, and the same SID.
const windows = toQuery({
  signedIn: `SELECT DISTINCT u.uid, u.username FROM logged_in_users l CROSS JOIN users u ON u.uuid = l.sid
  WHERE l.type = 'active'`,
  administratorGroups: `SELECT gid FROM groups WHERE group_sid = 'S-1-5-32-544'`,
})

// `sudo` and `wheel` are what distributions let administer; `admin` is that of older ones.
const linux = toQuery({
  signedIn: `SELECT DISTINCT u.uid, u.username FROM logged_in_users l CROSS JOIN users u ON u.username = l.user
  WHERE l.type = 'user'`,
  administratorGroups: groupsNamed(['root', 'sudo', 'wheel', 'admin']),
})

/** Whoever works at the device does so without the rights of an administrator. */
export const notLocalAdministrator: CatalogueEntry = {
  slug: 'user-not-local-administrator',
  name: 'User is no local administrator',
  description:
    'Nobody who is signed in is a member of the group that administers the device. Unknown while nobody is signed in, and for directory accounts whose groups the agent cannot see, such as those of Entra ID on Windows.',
  issueTitle: 'The signed-in user is a local administrator',
  topics: ['access'],
  tags: ['Info'],
  queries: { darwin, windows, linux },
  rationaleTemplate: `**{{ issue.value.administrators }}** may change everything on {{ device.name }}, and so may every program that is started there by mistake: switch protection off, read the files of others, install itself for good.`,
  fix: {
    darwin: [
      'Make sure that another administrator account exists, and that you know its password: open the Apple menu > **System Settings** > **Users & Groups**. Choose **Add User…** and **Administrator** if there is none.',
      'Sign in with that account, open **Users & Groups** again, choose the **Info** button (i) next to your own account and switch **Allow this user to administer this computer** off.',
      'Restart the Mac and go on with your own account. macOS asks for the other account’s name and password when something needs it.',
    ],
    windows: [
      'Make sure that another administrator account exists, and that you know its password: open **Settings** > **Accounts** > **Other users**.',
      'Sign in with that account, open **Other users** again, choose your own account > **Change account type** > **Standard User**.',
      'Sign in with your own account again. Windows asks for the other account’s password when something needs it.',
    ],
    linux: [
      'Make sure that another account is in the group `sudo` or `wheel`, and that you know its password: run `getent group sudo wheel`.',
      'Sign in with that account and run `sudo gpasswd -d NAME sudo` (Ubuntu and Debian) or `sudo gpasswd -d NAME wheel` (Fedora and Red Hat) with the name of your own.',
      'Sign out and in again. When something needs administration, use the other account.',
    ],
  },
  privacyInfo:
    'The names of the accounts that are signed in, and which of them are administrators.',
  defaultStrategy: 'report_only',
  strategyReason:
    'Many people need the rights for their work; organisations that take them away may block.',
  shelfLife: 'setting',
}

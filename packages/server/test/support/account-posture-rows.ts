/* Rows of accounts and of files in their homes, good ones and those that make checks fail. */
import type { CheckPlatform } from '../../src/posture/checks/check-definition.ts'
import type { OsqueryRow, TableRows } from './osquery-database.ts'

const person = (directory: string, uuid = ''): OsqueryRow => ({
  uid: 501,
  username: 'ada',
  directory,
  uuid,
})
const SID = 'S-1-5-21-1-2-3-1001'

/** A file as `file` shows it. */
export const file = (path: string, size = 900): OsqueryRow => ({
  path,
  filename: path.split(/[/\\\\]/).at(-1) ?? '',
  size,
  type: 'regular',
})

const signedInAs = (type: string, tty: string, ...gids: number[]): TableRows => ({
  logged_in_users: [{ type, tty, user: 'ada', sid: SID }],
  user_groups: gids.map((gid) => ({ uid: 501, gid })),
})

const passwordLength = (length: number): TableRows => ({
  password_policy: [
    { uid: -1, policy_content: 'policyAttributeFailedAuthentications < 11' },
    { uid: -1, policy_content: `policyAttributePassword matches '.{${length}}+'` },
  ],
})

const agent = (version: string): TableRows => ({ osquery_info: [{ version }] })
/** Agent and accounts of a well-kept device. */
export const HEALTHY_ACCOUNTS: Readonly<Record<CheckPlatform, TableRows>> = {
  darwin: {
    ...agent('5.23.1'),
    ...signedInAs('user', 'console', 20),
    ...passwordLength(12),
    users: [person('/Users/ada')],
    groups: [
      { gid: 20, groupname: 'staff' },
      { gid: 80, groupname: 'admin' },
    ],
  },
  windows: {
    ...agent('5.12.1'),
    ...signedInAs('active', 'Console', 545),
    users: [person(String.raw`C:\Users\ada`, SID)],
    groups: [
      { gid: 544, groupname: 'Administratoren', group_sid: 'S-1-5-32-544' },
      { gid: 545, groupname: 'Benutzer', group_sid: 'S-1-5-32-545' },
    ],
  },
  linux: {
    ...agent('5.14.1'),
    ...signedInAs('user', 'tty2', 501, 4),
    users: [person('/home/ada'), { uid: 0, username: 'root', directory: '/root' }],
    groups: [
      { gid: 0, groupname: 'root' },
      { gid: 27, groupname: 'sudo' },
    ],
  },
}

const homeFiles = (place: string): Record<CheckPlatform, TableRows> => ({
  darwin: { file: [file(`/Users/ada/${place}`)] },
  windows: { file: [file(`C:\\Users\\ada\\${place.replaceAll('/', '\\')}`)] },
  linux: { file: [file(`/home/ada/${place}`)] },
})

/** For the checks on accounts, agent and files the tables whose content makes each fail. */
export const ACCOUNT_FAILING_TABLES: Readonly<
  Record<string, Readonly<Partial<Record<CheckPlatform, TableRows>>>>
> = {
  'password-policy': {
    darwin: passwordLength(4),
    windows: { security_profile_info: [{ minimum_password_length: 0 }] },
  },
  'user-not-local-administrator': {
    darwin: signedInAs('user', 'console', 20, 80),
    windows: signedInAs('active', 'Console', 544, 545),
    linux: signedInAs('user', 'tty2', 501, 27),
  },
  'two-factor-backup-codes': homeFiles('Downloads/github-recovery-codes.txt'),
  'password-manager-kits': homeFiles('Desktop/1Password Emergency Kit A3-ABCDEF-ada.pdf'),
  'plain-text-cloud-credentials': homeFiles('.aws/credentials'),
  'plain-text-registry-credentials': homeFiles('.npmrc'),
  'agent-up-to-date': {
    darwin: agent('5.13.1'),
    windows: agent('5.9.1'),
    linux: agent('4.9.0'),
  },
}

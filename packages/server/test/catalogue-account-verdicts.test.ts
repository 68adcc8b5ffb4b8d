import { describe, expect, it } from 'vitest'
import { listVerdicts, runCatalogueCheck } from './support/run-catalogue-check.ts'

const file = (path: string, size = 900, type = 'regular') => ({
  path,
  filename: path.split(/[/\\]/).at(-1)!,
  size,
  type,
})

describe('files that open accounts', () => {
  it.each(['two-factor-backup-codes', 'password-manager-kits'])(
    '%s is unknown where the agent sees nothing in the folders, as without Full Disk Access',
    (slug) => {
      expect(listVerdicts(slug, 'darwin', { file: [] })).toEqual(['UNKNOWN'])
      const marks = [file('/Users/ada/Downloads/.localized', 0)]
      expect(listVerdicts(slug, 'darwin', { file: marks })).toEqual(['PASS'])
    },
  )

  it.each([
    ['two-factor-backup-codes', 'Backup-codes-ada.txt', 'FAIL'],
    ['two-factor-backup-codes', 'discord_backup_codes.txt', 'FAIL'],
    ['two-factor-backup-codes', 'GitLab Recovery Codes.PDF', 'FAIL'],
    ['two-factor-backup-codes', 'backup_code_generator.py', 'PASS'],
    ['two-factor-backup-codes', 'Backup of project.pdf', 'PASS'],
    ['password-manager-kits', '1PasswordExport-ABC-20260301.1pux', 'FAIL'],
    ['password-manager-kits', 'bitwarden_export_20260301.json', 'FAIL'],
    ['password-manager-kits', 'bitwarden_encrypted_export_20260301.json', 'PASS'],
    ['password-manager-kits', 'Chrome Passwords (1).csv', 'FAIL'],
    ['password-manager-kits', 'budget.csv', 'PASS'],
  ])('%s judges %s by its name: %s', (slug, name, expected) => {
    expect(listVerdicts(slug, 'linux', { file: [file(`/home/ada/Downloads/${name}`)] })).toEqual([
      expected,
    ])
  })

  it('leaves out folders and empty files', () => {
    const rows = [
      file('/home/ada/Documents/backup-codes.txt', 4096, 'directory'),
      file('/home/ada/Documents/recovery-codes.txt', 0),
    ]
    expect(listVerdicts('two-factor-backup-codes', 'linux', { file: rows })).toEqual(['PASS'])
  })

  it('finds what lies in a folder that OneDrive has taken over', () => {
    const path = String.raw`C:\Users\ada\OneDrive - Example\Desktop\recovery-codes.txt`
    expect(
      runCatalogueCheck('two-factor-backup-codes', 'windows', { file: [file(path)] }),
    ).toMatchObject([{ path, KOLIDE_CHECK_STATUS: 'FAIL' }])
  })
})

describe('credentials in plain text', () => {
  it.each(['plain-text-cloud-credentials', 'plain-text-registry-credentials'])(
    '%s is unknown where no home is seen',
    (slug) => {
      const users = [{ uid: 0, username: 'root', directory: '/var/root' }]
      expect(listVerdicts(slug, 'darwin', { users, file: [] })).toEqual(['UNKNOWN'])
    },
  )

  it('answers one row for each file, with its path and size and nothing else', () => {
    const rows = runCatalogueCheck('plain-text-cloud-credentials', 'darwin', {
      file: [
        file('/Users/ada/.aws/credentials', 116),
        file('/Users/ada/.aws/config', 300),
        file('/Users/ada/.config/gcloud/legacy_credentials/ada@example.com/adc.json', 400),
      ],
    })
    expect(rows).toEqual([
      { path: '/Users/ada/.aws/credentials', size: 116, KOLIDE_CHECK_STATUS: 'FAIL' },
      {
        path: '/Users/ada/.config/gcloud/legacy_credentials/ada@example.com/adc.json',
        size: 400,
        KOLIDE_CHECK_STATUS: 'FAIL',
      },
    ])
  })

  it('takes the settings of Docker for harmless where a credential helper is installed', () => {
    const config = file('/root/.docker/config.json')
    const helper = file('/usr/bin/docker-credential-secretservice')
    const slug = 'plain-text-registry-credentials'
    expect(listVerdicts(slug, 'linux', { file: [config] })).toEqual(['FAIL'])
    expect(listVerdicts(slug, 'linux', { file: [config, helper] })).toEqual(['PASS'])
    const both = { file: [config, helper, file('/root/.pypirc')] }
    expect(runCatalogueCheck(slug, 'linux', both)).toMatchObject([{ path: '/root/.pypirc' }])
  })

  it('takes settings that are too short for a token for harmless', () => {
    const status = (size: number) =>
      listVerdicts('plain-text-registry-credentials', 'windows', {
        file: [file(String.raw`C:\Users\ada\.npmrc`, size)],
      })
    expect(status(63)).toEqual(['PASS'])
    expect(status(64)).toEqual(['FAIL'])
  })
})

describe('who administers the device', () => {
  const slug = 'user-not-local-administrator'

  it.each(['darwin', 'windows', 'linux'] as const)(
    'is unknown on %s while nobody is signed in',
    (platform) => {
      expect(listVerdicts(slug, platform, { logged_in_users: [] })).toEqual(['UNKNOWN'])
    },
  )

  it('is unknown for an account of Entra ID, whose groups osquery does not list', () => {
    const sid = 'S-1-12-1-1-2-3-4'
    const changes = {
      logged_in_users: [{ type: 'active', user: 'AzureAD\\ada', sid, tty: 'Console' }],
      users: [{ uid: 4, username: 'ada', directory: String.raw`C:\Users\ada`, uuid: sid }],
    }
    expect(listVerdicts(slug, 'windows', { ...changes, user_groups: [] })).toEqual(['UNKNOWN'])
  })

  it('does not count administrators who are not signed in', () => {
    const user_groups = [
      { uid: 501, gid: 20 },
      { uid: 502, gid: 80 },
    ]
    expect(listVerdicts(slug, 'darwin', { user_groups })).toEqual(['PASS'])
  })
})

describe('password policy', () => {
  it('is unknown on a Mac that sets no length', () => {
    const policy = { uid: -1, policy_content: 'policyAttributeFailedAuthentications < 11' }
    expect(listVerdicts('password-policy', 'darwin', { password_policy: [policy] })).toEqual([
      'UNKNOWN',
    ])
  })

  it.each([
    ['darwin', 7, 'FAIL'],
    ['darwin', 8, 'PASS'],
    ['windows', 7, 'FAIL'],
    ['windows', 8, 'PASS'],
    ['windows', -1, 'FAIL'],
  ] as const)('on %s takes a length of %d for %s', (platform, length, expected) => {
    const content = `policyAttributePassword matches '.{${length},}+'`
    const changes = {
      password_policy: [{ uid: -1, policy_content: content }],
      security_profile_info: [{ minimum_password_length: length }],
    }
    expect(listVerdicts('password-policy', platform, changes)).toEqual([expected])
  })
})

describe('the agent', () => {
  it.each([
    ['linux', '5.12.0', 'FAIL'],
    ['linux', '5.12.1', 'PASS'],
    ['linux', '5.9.1', 'FAIL'],
    ['linux', '5.100', 'PASS'],
    ['linux', '6.0.0', 'PASS'],
    ['linux', '', 'UNKNOWN'],
    ['darwin', '5.12.1', 'FAIL'],
    ['darwin', '5.14.1', 'PASS'],
  ] as const)('on %s of version %s is judged by number: %s', (platform, version, expected) => {
    const changes = { osquery_info: [{ version }] }
    expect(listVerdicts('agent-up-to-date', platform, changes)).toEqual([expected])
  })

  it('may be older on a macOS before 15', () => {
    const changes = { osquery_info: [{ version: '5.12.1' }], os_version: [{ major: 14 }] }
    expect(listVerdicts('agent-up-to-date', 'darwin', changes)).toEqual(['PASS'])
  })
})

describe('enrolment in MDM', () => {
  it('is unknown where nothing of it can be seen', () => {
    expect(listVerdicts('mdm-enrolled', 'darwin', { file: [], managed_policies: [] })).toEqual([
      'UNKNOWN',
    ])
    expect(listVerdicts('mdm-enrolled', 'windows', { registry: [] })).toEqual(['UNKNOWN'])
  })

  it('is told on a Mac by what a profile enforces, too', () => {
    const managed_policies = [{ domain: 'com.apple.screensaver', name: 'idleTime', value: '600' }]
    expect(listVerdicts('mdm-enrolled', 'darwin', { file: [], managed_policies })).toEqual(['PASS'])
  })

  it('is not told by the keys that every Windows has', () => {
    const key = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Enrollments`
    const registry = [
      { key, name: 'Context', path: String.raw`${key}\Context`, type: 'subkey', data: '' },
      { key: String.raw`${key}\Context`, name: 'EnrollmentState', data: '1' },
    ]
    expect(listVerdicts('mdm-enrolled', 'windows', { registry })).toEqual(['FAIL'])
  })
})

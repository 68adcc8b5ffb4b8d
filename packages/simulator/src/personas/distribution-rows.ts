import { LINUX_ROWS } from './linux-rows.ts'
import { daysAgo, rowsOf } from './template-rows.ts'
import type { TemplateRow, TemplateTables } from './template-rows.ts'

const DEB_COLUMNS =
  'name version source size arch revision status maintainer section priority admindir'

function debPackage(name: string, version: string, section: string): (string | number)[] {
  const revision = version.split('-').at(-1) ?? ''
  return [
    name,
    version,
    '',
    4_096_000,
    'amd64',
    revision,
    'install ok installed',
    'Ubuntu Developers <ubuntu-devel-discuss@lists.ubuntu.com>',
    section,
    'optional',
    '/var/lib/dpkg',
  ]
}

/** What Ubuntu adds. */
export const UBUNTU_ROWS: TemplateTables = {
  ...LINUX_ROWS,
  deb_packages: rowsOf(
    DEB_COLUMNS,
    debPackage('bash', '5.3-2ubuntu1', 'shells'),
    debPackage('openssl', '3.5.5-1ubuntu1', 'utils'),
    debPackage('openssh-client', '1:10.2p1-2ubuntu1', 'net'),
    debPackage('sudo', '1.9.17p2-1ubuntu1', 'admin'),
    debPackage('firefox', '1:1snap1-0ubuntu7', 'web'),
    debPackage('git', '1:2.53.0-1ubuntu1', 'vcs'),
    debPackage('python3', '3.14.2-1', 'python'),
  ),
  apparmor_profiles: rowsOf(
    'path name attach mode sha1',
    [
      'firefox.1',
      'firefox',
      '/usr/lib/firefox/firefox',
      'enforce',
      '3a9c1f5be02d7786c0f4de2b9185ab7703e6d41c',
    ],
    [
      'usr.sbin.cups-browsed.2',
      '/usr/sbin/cups-browsed',
      '/usr/sbin/cups-browsed',
      'enforce',
      'd40f2b6c77a18e93c5d2096be8417f3a5c60b9e2',
    ],
    [
      'unprivileged_userns.3',
      'unprivileged_userns',
      '',
      'enforce',
      '90b1e74c2d3f6a58c7e0914fb82d6ca351e7f08d',
    ],
  ),
}

const RPM_COLUMNS =
  'name version release source size sha1 arch epoch install_time vendor package_group'

function rpmPackage(name: string, version: string): TemplateRow[] {
  return rowsOf(RPM_COLUMNS, [
    name,
    version,
    '1.fc44',
    `${name}-${version}-1.fc44.src.rpm`,
    5_120_000,
    '',
    'x86_64',
    0,
    daysAgo(12),
    'Fedora Project',
    'Unspecified',
  ])
}

/** What Fedora adds. */
export const FEDORA_ROWS: TemplateTables = {
  ...LINUX_ROWS,
  rpm_packages: [
    ['bash', '5.3.9'],
    ['openssl', '3.5.5'],
    ['openssh-clients', '10.2p1'],
    ['sudo', '1.9.17'],
    ['git', '2.53.0'],
    ['python3', '3.14.2'],
    ['gnome-shell', '50.1'],
  ].flatMap(([name = '', version = '']) => rpmPackage(name, version)),
  selinux_settings: rowsOf(
    'scope key value',
    ['', 'mls', '1'],
    ['', 'policyvers', '33'],
    ['', 'deny_unknown', '0'],
    ['booleans', 'ssh_sysadm_login', 'off'],
  ),
}

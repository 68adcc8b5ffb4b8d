import type { ReportingTable } from '../reporting-table.ts'
import { flag, inCategory, text, whole } from './table-parts.ts'

/** What is installed. */
export const SOFTWARE_TABLES: readonly ReportingTable[] = inCategory('Software', [
  {
    name: 'apps',
    description: 'Applications on macOS.',
    platforms: ['darwin'],
    columns: [
      text('name', 'Bundle name'),
      text('path', 'Folder of the bundle'),
      text('bundle_identifier', 'Identifier'),
      text('bundle_short_version', 'Version as people write it'),
      text('bundle_version', 'Version of the build'),
      text('display_name', 'Name that is shown'),
      text('minimum_system_version', 'Oldest macOS that it runs on'),
    ],
  },
  {
    name: 'programs',
    description: 'Installed programs on Windows.',
    platforms: ['windows'],
    columns: [
      text('name', 'Name'),
      text('version', 'Version'),
      text('publisher', 'Publisher'),
      text('install_location', 'Folder'),
      text('install_date', 'Date of installation'),
      text('identifying_number', 'Product code'),
    ],
  },
  {
    name: 'deb_packages',
    description: 'Installed Debian packages.',
    platforms: ['linux'],
    columns: [
      text('name', 'Name'),
      text('version', 'Version'),
      text('source', 'Source package'),
      text('arch', 'Architecture'),
      text('status', 'Status of dpkg'),
      text('maintainer', 'Maintainer'),
    ],
  },
  {
    name: 'rpm_packages',
    description: 'Installed RPM packages.',
    platforms: ['linux'],
    columns: [
      text('name', 'Name'),
      text('version', 'Version'),
      text('release', 'Release'),
      text('arch', 'Architecture'),
      text('vendor', 'Vendor'),
    ],
  },
  {
    name: 'homebrew_packages',
    description: 'Packages of Homebrew.',
    platforms: ['darwin'],
    columns: [
      text('name', 'Name'),
      text('path', 'Folder'),
      text('version', 'Version'),
      text('type', 'Formula or cask'),
    ],
  },
  {
    name: 'chrome_extensions',
    description: 'Extensions of Chromium browsers.',
    condition: 'uid in (select uid from users)',
    columns: [
      text('browser_type', 'Browser'),
      whole('uid', 'User'),
      text('name', 'Name'),
      text('identifier', 'Identifier'),
      text('version', 'Version'),
      text('permissions', 'Permissions'),
      flag('from_webstore', '1 when from the store'),
    ],
  },
  {
    name: 'firefox_addons',
    description: 'Add-ons of Firefox.',
    condition: 'uid in (select uid from users)',
    columns: [
      whole('uid', 'User'),
      text('name', 'Name'),
      text('identifier', 'Identifier'),
      text('version', 'Version'),
      whole('active', '1 when active'),
      whole('disabled', '1 when disabled'),
    ],
  },
  {
    name: 'patches',
    description: 'Installed Windows updates.',
    platforms: ['windows'],
    columns: [
      text('hotfix_id', 'Number of the update'),
      text('description', 'Kind'),
      text('installed_on', 'Date of installation'),
      text('installed_by', 'Account that installed it'),
    ],
  },
])

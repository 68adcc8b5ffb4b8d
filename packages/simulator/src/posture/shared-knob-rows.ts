import { daysAgo, put, remove, set } from '../personas/template-rows.ts'
import type { TemplateChange } from '../personas/template-rows.ts'
import type { KnobSource } from './knob.ts'

const MALICIOUS_EXTENSION = 'pgjkmnbvcxzasdfghjklqwertyuiopaa'

/** Knobs that every platform has with the same rows. */
export const COMMON_KNOBS: readonly KnobSource[] = [
  {
    name: 'browser-extensions',
    title: 'No unwanted browser extension is installed',
    good: [remove('chrome_extensions', { identifier: MALICIOUS_EXTENSION })],
    bad: [
      put(
        'chrome_extensions',
        {
          browser_type: 'chrome',
          uid: '{uid}',
          name: 'Free Coupon Finder',
          profile: 'Person 1',
          identifier: MALICIOUS_EXTENSION,
          version: '0.9.1',
          path: '{home}/Extensions/free-coupon-finder',
          update_url: '',
          referenced: 1,
          from_webstore: 'false',
          state: '',
          permissions: '<all_urls>, webRequest, cookies, tabs',
          install_timestamp: daysAgo(5),
        },
        'identifier',
      ),
    ],
  },
  {
    name: 'agent-version',
    title: 'The agent is recent enough',
    good: [set('osquery_info', { version: '5.23.1' })],
    bad: [set('osquery_info', { version: '5.10.2' })],
  },
  {
    name: 'recent-restart',
    title: 'The device was restarted within the last weeks',
    good: [set('uptime', { total_seconds: daysAgo(3.2) })],
    bad: [set('uptime', { total_seconds: daysAgo(61) })],
  },
]

/** Turns a setting of a macOS preference domain, where both its tables show it. */
export function darwinSetting(domain: string, key: string, value: string): TemplateChange[] {
  const path = `/Library/Preferences/${domain}.plist`
  return [
    put('plist', { path, key, subkey: '', value }, 'path', 'key'),
    put(
      'preferences',
      { domain, key, subkey: '', value, forced: 0, username: '', host: 'any' },
      'domain',
      'key',
      'username',
    ),
  ]
}

/** Removes a setting of a macOS preference domain from both its tables. */
export function noDarwinSetting(domain: string, key: string): TemplateChange[] {
  return [
    remove('plist', { path: `/Library/Preferences/${domain}.plist`, key }),
    remove('preferences', { domain, key, username: '' }),
  ]
}

/** Sets one value of the Windows registry; type `subkey` makes an empty subkey. */
export function registryValue(
  key: string,
  name: string,
  data: string | number,
  type: 'REG_DWORD' | 'REG_SZ' | 'subkey' = 'REG_DWORD',
): TemplateChange {
  const path = `${key}\\${name}`
  return put('registry', { key, path, name, type, data: String(data), mtime: daysAgo(9) }, 'path')
}

/** Removes one value of the Windows registry. */
export function noRegistryValue(key: string, name: string): TemplateChange {
  return remove('registry', { path: `${key}\\${name}` })
}

/** Sets a systemd unit's states; the unit is there either way. */
export function systemdUnit(id: string, isActive: boolean): TemplateChange {
  return put(
    'systemd_units',
    {
      id,
      description: id.replace(/\..*$/, ''),
      load_state: 'loaded',
      active_state: isActive ? 'active' : 'inactive',
      sub_state: isActive ? (id.endsWith('.timer') ? 'waiting' : 'running') : 'dead',
      unit_file_state: isActive ? 'enabled' : 'disabled',
      fragment_path: `/usr/lib/systemd/system/${id}`,
      user: '',
    },
    'id',
  )
}

/** Sets one value that Augeas reads from a configuration file. */
export function augeasValue(path: string, label: string, value: string): TemplateChange {
  return put('augeas', { node: `/files${path}/${label}`, value, label, path }, 'path', 'label')
}

/** Makes a Debian package installed. */
export function debPackage(name: string, version: string): TemplateChange {
  return put(
    'deb_packages',
    {
      name,
      version,
      arch: 'amd64',
      status: 'install ok installed',
      section: 'utils',
      priority: 'optional',
      size: 8_192_000,
      admindir: '/var/lib/dpkg',
    },
    'name',
  )
}

/** Makes an RPM package installed. */
export function rpmPackage(name: string, version: string): TemplateChange {
  return put(
    'rpm_packages',
    {
      name,
      version,
      release: '1',
      arch: 'x86_64',
      epoch: 0,
      size: 8_192_000,
      install_time: daysAgo(20),
      vendor: 'Example Packages',
    },
    'name',
  )
}

/** Makes a macOS app installed. */
export function macApp(name: string, identifier: string, version: string): TemplateChange {
  return put(
    'apps',
    {
      name: `${name}.app`,
      path: `/Applications/${name}.app`,
      bundle_identifier: identifier,
      bundle_name: name,
      bundle_short_version: version,
      bundle_version: version,
      bundle_executable: name,
      bundle_package_type: 'APPL',
    },
    'bundle_identifier',
  )
}

/** Makes a Windows program installed. */
export function windowsProgram(name: string, version: string, publisher: string): TemplateChange {
  return put(
    'programs',
    {
      name,
      version,
      publisher,
      install_date: '20260311',
      install_location: `C:\\Program Files\\${name}\\`,
      identifying_number: '',
    },
    'name',
  )
}

/** Sets the state of a Windows service that is there. */
export function windowsService(name: string, status: string, startType: string): TemplateChange {
  return set('services', { status, start_type: startType }, { name })
}

import { describe, expect, it } from 'vitest'
import { CHECK_CATALOGUE } from '../src/posture/checks/catalogue/index.ts'
import type { CheckPlatform } from '../src/posture/checks/check-definition.ts'
import { file } from './support/account-posture-rows.ts'
import {
  bitlocker,
  defenderExclusions,
  hosts,
  registry,
  rootCertificate,
  windowsRoot,
} from './support/hardening-rows.ts'
import { openOsqueryDatabase, type TableRows } from './support/osquery-database.ts'

/** The verdict, and the keys of what is wrong. */
function run(slug: string, platform: CheckPlatform, tables: TableRows) {
  using database = openOsqueryDatabase(tables)
  const check = CHECK_CATALOGUE.find((entry) => entry.slug === slug)!
  const rows = database.prepare(check.queries[platform]!).all()
  const statuses = new Set(rows.map((row) => row['KOLIDE_CHECK_STATUS']))
  expect(statuses.size).toBe(1)
  const [status] = statuses
  if (check.primaryKeyColumn === undefined || status !== 'FAIL') {
    expect(rows).toHaveLength(1)
    return status
  }
  return rows.map((row) => row[check.primaryKeyColumn!]).toSorted()
}

describe('root certificates', () => {
  const keychain = '/Library/Keychains/System.keychain'

  it('of the system keychain are the own ones of the Mac, or somebody’s', () => {
    const check = (...certificates: ReturnType<typeof rootCertificate>[]) =>
      run('unexpected-root-certificates', 'darwin', { certificates })
    const own = rootCertificate(keychain, 'com.apple.kerberos.kdc', 'a')
    expect(check(own)).toBe('PASS')
    expect(check(own, rootCertificate(keychain, 'mkcert', 'b'))).toEqual(['B'.repeat(40)])
    const leaf = { ...rootCertificate(keychain, 'vpn', 'c'), ca: 0 }
    const issued = { ...rootCertificate(keychain, 'issuer', 'd'), self_signed: 0 }
    expect(check(own, leaf, issued)).toBe('PASS')
    const system = '/System/Library/Keychains/SystemRootCertificates.keychain'
    expect(check(rootCertificate(system, 'ISRG Root X1', 'e'))).toBe('UNKNOWN')
  })

  it('of Windows are its own, of the public programme, or somebody’s', () => {
    const own = windowsRoot('ROOT', 'CDD4EEAE6000AC7F40C3802C171E30148030C072')
    const check = (...rows: ReturnType<typeof registry>[]) =>
      run('unexpected-root-certificates', 'windows', { registry: [own, ...rows] })
    const added = windowsRoot('ROOT', 'B'.repeat(40))
    expect(check()).toBe('PASS')
    expect(check(added)).toEqual(['B'.repeat(40)])
    expect(check(added, windowsRoot('AuthRoot', 'b'.repeat(40)))).toBe('PASS')
    const policy = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Policies\Microsoft\SystemCertificates\Root\Certificates`
    expect(check(registry(`${policy}\\${'C'.repeat(40)}`, '', 'subkey'))).toBe('PASS')
    const user = String.raw`HKEY_USERS\S-1-5-21-1-2-3-1001\Software\Microsoft\SystemCertificates\Root\Certificates`
    expect(check(registry(`${user}\\${'d'.repeat(40)}`, '', 'subkey'))).toEqual(['D'.repeat(40)])
  })

  it('of Windows have the name that their certificate has', () => {
    using database = openOsqueryDatabase({
      registry: [windowsRoot('ROOT', 'B'.repeat(40))],
      certificates: [rootCertificate('LocalMachine', 'Superfish, Inc.', 'b')],
    })
    const check = CHECK_CATALOGUE.find(({ slug }) => slug === 'unexpected-root-certificates')!
    expect(database.prepare(check.queries.windows!).all()).toMatchObject([
      { name: 'Superfish, Inc.', place: 'this computer' },
    ])
  })

  it('of Linux are those of the folders for additional ones', () => {
    const bundle = file('/etc/ssl/certs/ca-certificates.crt')
    const check = (paths: readonly string[], certificates: TableRows['certificates'] = []) =>
      run('unexpected-root-certificates', 'linux', {
        file: [bundle, ...paths.map((path) => file(path))],
        certificates,
      })
    expect(check([])).toBe('PASS')
    const debian = '/usr/local/share/ca-certificates/proxy/corp.crt'
    const fedora = '/etc/pki/ca-trust/source/anchors/corp.pem'
    expect(check([debian, fedora], [rootCertificate(debian, 'Corp', 'b')])).toEqual([
      fedora,
      'B'.repeat(40),
    ])
    expect(check(['/usr/local/share/ca-certificates/README'])).toBe('PASS')
  })
})

describe('the hosts file', () => {
  const check = (platform: CheckPlatform, tables: TableRows) =>
    run('hosts-file-unaltered', platform, tables)

  it.each(['darwin', 'windows', 'linux'] as const)(
    'may hold anything but names that matter: %s',
    (platform) => {
      expect(check(platform, { etc_hosts: hosts() })).toBe('PASS')
      const harmless = [
        ['10.0.0.1', 'nas nas.local'],
        ['0.0.0.0', 'ads.example.com'],
        ['0.0.0.0', 'notgithub.com'],
        ['0.0.0.0', 'github.com.example.com'],
      ] as const
      expect(check(platform, { etc_hosts: hosts(...harmless) })).toBe('PASS')
      const wrong = [
        ['203.0.113.9', 'GitHub.com'],
        ['::1', 'github.com'],
        ['203.0.113.9', 'example.org login.microsoftonline.com'],
      ] as const
      expect(check(platform, { etc_hosts: hosts(...wrong) })).toEqual([
        'github.com',
        'login.microsoftonline.com',
      ])
    },
  )

  it('of Windows is empty by default', () => {
    const path = String.raw`C:\Windows\System32\drivers\etc\hosts`
    expect(check('windows', { file: [file(path)] })).toBe('PASS')
  })

  it('of Windows is in its folder', () => {
    const folder = (data: string) => ({
      etc_hosts: hosts(),
      registry: [
        registry(
          String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters\DataBasePath`,
          data,
          'REG_EXPAND_SZ',
        ),
      ],
    })
    expect(check('windows', folder(String.raw`%SystemRoot%\System32\drivers\etc`))).toBe('PASS')
    expect(check('windows', folder('C:\\WINDOWS\\system32\\drivers\\etc\\'))).toBe('PASS')
    expect(check('windows', folder(String.raw`C:\ProgramData\x`))).toEqual(['all names'])
  })

  it('may block 100,000 names', () => {
    const blocked = Array.from(
      { length: 100_000 },
      (_, index) => ['0.0.0.0', `ad${index}.example`] as const,
    )
    expect(check('linux', { etc_hosts: hosts(...blocked) })).toBe('PASS')
  })
})

describe('exclusions of Microsoft Defender', () => {
  const check = (tables: TableRows) => run('defender-exclusions', 'windows', tables)

  it.each([
    ['Paths', 'C:\\'],
    ['Paths', 'd:\\*'],
    ['Paths', String.raw`C:\Users`],
    ['Paths', String.raw`C:\Users\ada`],
    ['Paths', String.raw`C:\Users\ada\Downloads`],
    ['Paths', String.raw`C:\Users\*\AppData\Local\Temp`],
    ['Paths', '%TEMP%'],
    ['Paths', String.raw`%USERPROFILE%\Downloads\*`],
    ['Paths', String.raw`C:\Windows\Temp`],
    ['Paths', String.raw`C:\Program Files (x86)`],
    ['Extensions', 'exe'],
    ['Extensions', '.PS1'],
    ['Extensions', '*'],
    ['Processes', 'powershell.exe'],
    ['Processes', String.raw`C:\Windows\System32\cmd.exe`],
  ] as const)('are too wide: %s %s', (kind, name) => {
    expect(check({ registry: defenderExclusions(kind, name) })).toEqual([name])
  })

  it.each([
    ['Paths', String.raw`C:\Users\ada\source\repos`],
    ['Paths', String.raw`C:\Program Files\Example\data`],
    ['Paths', String.raw`D:\Builds`],
    ['Extensions', 'vhdx'],
    ['Processes', String.raw`C:\Program Files\Example\database.exe`],
    ['Processes', 'mypowershell.exe'],
  ] as const)('pass when they are narrow: %s %s', (kind, name) => {
    expect(check({ registry: defenderExclusions(kind, name) })).toBe('PASS')
  })

  it('of policies count too', () => {
    const key = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Policies\Microsoft\Windows Defender\Exclusions\Extensions`
    const row = { key, path: `${key}\\exe`, name: 'exe', data: '0', type: 'REG_SZ' }
    expect(check({ registry: [...defenderExclusions('Paths'), row] })).toEqual(['exe'])
  })

  it('do not matter where another antivirus product is active', () => {
    const other = { type: 'Antivirus', name: 'Example Antivirus', state: 'On' }
    const tables = {
      registry: defenderExclusions('Paths', 'C:\\'),
      windows_security_products: [other],
    }
    expect(check(tables)).toBe('INAPPLICABLE')
  })
})

describe('data drives', () => {
  const check = (tables: TableRows) => run('data-drives-encrypted', 'windows', tables)
  const system = bitlocker('C:', 0, 0)

  it('are all but the system drive', () => {
    expect(check({ bitlocker_info: [system] })).toBe('INAPPLICABLE')
    expect(check({ bitlocker_info: [system, bitlocker('', 0, 0)] })).toBe('INAPPLICABLE')
    expect(check({ bitlocker_info: [system, bitlocker('D:', 1, 1)] })).toBe('PASS')
    expect(check({ bitlocker_info: [bitlocker('D:', 0, 0), bitlocker('E:', 0, 1)] })).toEqual([
      'D:',
      'E:',
    ])
    const logical_drives = [{ device_id: 'E:', boot_partition: 1 }]
    expect(check({ bitlocker_info: [bitlocker('E:', 0, 0)], logical_drives })).toBe('INAPPLICABLE')
  })

  it('pass while they are locked or being encrypted', () => {
    expect(check({ bitlocker_info: [bitlocker('D:', 2, 0), bitlocker('E:', 0, 2)] })).toBe('PASS')
  })

  it('are no sticks and no cards, in whatever language Windows names them', () => {
    const bitlocker_info = [system, bitlocker('E:', 0, 0)]
    const english = [{ device_id: 'E:', description: 'Removable Disk' }]
    expect(check({ bitlocker_info, logical_drives: english })).toBe('INAPPLICABLE')
    const toHex = (text: string) => Buffer.from(text, 'utf16le').toString('hex').toUpperCase()
    const mounted = (device: string) => ({
      bitlocker_info,
      logical_drives: [{ device_id: 'E:', description: 'Wechseldatenträger' }],
      registry: [
        {
          key: String.raw`HKEY_LOCAL_MACHINE\SYSTEM\MountedDevices`,
          name: String.raw`\DosDevices\E:`,
          data: toHex(device),
          type: 'REG_BINARY',
        },
      ],
    })
    expect(check(mounted('_??_USBSTOR#Disk&Ven_Example#1'))).toBe('INAPPLICABLE')
    expect(check(mounted('_??_SD#DISK&CID_1'))).toBe('INAPPLICABLE')
    expect(check(mounted('DMIO:ID:abcdefgh'))).toEqual(['E:'])
  })
})

describe('the screen lock of Linux', () => {
  const desktop = file('/usr/share/wayland-sessions/sway.desktop')
  const check = (names: readonly string[], files = [desktop], cmdline = '') =>
    run('linux-screen-lock', 'linux', {
      file: files,
      processes: ['systemd', ...names].map((name) => ({ name, cmdline })),
    })

  it('needs a program under what does not lock by itself', () => {
    expect(check(['sway'])).toBe('FAIL')
    expect(check(['i3', 'xss-lock'])).toBe('PASS')
    expect(check(['sway', 'swayidle'], [desktop], 'swayidle timeout 300 swaylock')).toBe('PASS')
    expect(check(['sway', 'swayidle'], [desktop], 'swayidle')).toBe('UNKNOWN')
    expect(check(['Hyprland', 'hypridle'])).toBe('UNKNOWN')
    expect(check(['xfce4-session', 'xfce4-screensav'])).toBe('UNKNOWN')
    expect(check(['xfce4-session'])).toBe('FAIL')
  })

  it('cannot be known under what does, nor while nobody is signed in', () => {
    expect(check(['gnome-shell'])).toBe('UNKNOWN')
    expect(check(['plasmashell', 'kwin_wayland'])).toBe('UNKNOWN')
    expect(check([])).toBe('UNKNOWN')
  })

  it('does not matter without a desktop', () => {
    expect(check([], [])).toBe('INAPPLICABLE')
  })
})

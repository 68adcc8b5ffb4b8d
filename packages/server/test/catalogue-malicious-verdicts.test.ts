import { describe, expect, it } from 'vitest'
import { createCatalogue } from '../src/posture/checks/catalogue/index.ts'
import { listMaliciousReleases } from '../src/posture/checks/catalogue/malicious-software.ts'
import {
  BUILT_IN_RELEASE_DATA,
  parseReleaseData,
} from '../src/posture/checks/catalogue/release-data.ts'
import { openOsqueryDatabase } from './support/osquery-database.ts'
import { listVerdicts, runCatalogueCheck } from './support/run-catalogue-check.ts'

const { incidents } = BUILT_IN_RELEASE_DATA.malicious_software

describe('the list of malicious software', () => {
  const listReleases = (...kinds: Parameters<typeof listMaliciousReleases>[1]) =>
    listMaliciousReleases(incidents, kinds)

  it('names each release once', () => {
    const releases = listReleases('browser_extensions', 'editor_extensions', 'npm', 'pypi').map(
      ({ kind, name, version }) => `${kind} ${name} ${version}`,
    )
    expect(new Set(releases).size).toBe(releases.length)
    expect(releases.length).toBeGreaterThan(100)
  })

  it('spells extensions and Python packages as devices are asked for them', () => {
    for (const { name } of listReleases('browser_extensions')) expect(name).toMatch(/^[a-p]{32}$/)
    for (const { name } of listReleases('editor_extensions')) {
      expect(name).toMatch(/^[a-z0-9-]+\.[a-z0-9.-]+$/)
    }
    for (const { name } of listReleases('pypi')) expect(name).toMatch(/^[a-z0-9-]+$/)
  })

  it('may come from a file, and stays bounded there', () => {
    const withIncidents = (incidents: unknown) => ({
      ...BUILT_IN_RELEASE_DATA,
      malicious_software: { ...BUILT_IN_RELEASE_DATA.malicious_software, incidents },
    })
    const incident = (npm: unknown) => ({ name: 'x', source: 'https://example.com', npm })
    const data = parseReleaseData(withIncidents([incident({ 'left-pad': ['1.3.1'] })]))
    const check = createCatalogue(data).find(({ slug }) => slug === 'compromised-packages')!
    expect(check.queries.linux).toContain(`VALUES ('npm', 'left-pad', '1.3.1', 0)`)
    const extensions = createCatalogue(data).find(({ slug }) => slug === 'malicious-extensions')!
    using database = openOsqueryDatabase({ users: [{ uid: 501, username: 'ada' }] })
    expect(database.prepare(extensions.queries.linux!).all()).toMatchObject([
      { KOLIDE_CHECK_STATUS: 'INAPPLICABLE' },
    ])
    const versions = Array.from({ length: 200 }, (_, index) => `1.0.${index}`)
    const many = Object.fromEntries('abcdef'.split('').map((name) => [name, versions]))
    for (const npm of [many, { "a'); --": ['1'] }, { a: ["1'"] }, { a: [] }]) {
      expect(() => parseReleaseData(withIncidents([incident(npm)]))).toThrow('incidents')
    }
  })
})

describe('malicious extensions', () => {
  const slug = 'malicious-extensions'
  const cyberhaven = 'pajkjnmeojmbapicmbpliphjmcekeaac'
  const row = { uid: 501, name: 'Cyberhaven', identifier: cyberhaven, browser_type: 'edge' }

  it('are told by version: the release after the incident passes', () => {
    expect(
      listVerdicts(slug, 'linux', { chrome_extensions: [{ ...row, version: '24.10.5' }] }),
    ).toEqual(['PASS'])
    expect(
      runCatalogueCheck(slug, 'linux', { chrome_extensions: [{ ...row, version: '24.10.4' }] }),
    ).toEqual([
      {
        identifier: cyberhaven,
        name: 'Cyberhaven',
        version: '24.10.4',
        application: 'edge',
        username: 'ada',
        incident: 'Cyberhaven and other Chrome extensions, 2024',
        KOLIDE_CHECK_STATUS: 'FAIL',
      },
    ])
  })

  it('of editors are found whatever the case of their identifier', () => {
    const vscode_extensions = [{ uid: 501, name: 'JScearcy.rust-doc-viewer', version: '4.2.1' }]
    expect(runCatalogueCheck(slug, 'darwin', { vscode_extensions })).toMatchObject([
      {
        identifier: 'jscearcy.rust-doc-viewer',
        application: 'editor',
        KOLIDE_CHECK_STATUS: 'FAIL',
      },
    ])
  })

  it('are inapplicable without any extension, and unknown without accounts', () => {
    expect(listVerdicts(slug, 'windows', { chrome_extensions: [] })).toEqual(['INAPPLICABLE'])
    expect(listVerdicts(slug, 'windows', { users: [] })).toEqual(['UNKNOWN'])
  })
})

describe('compromised packages', () => {
  const slug = 'compromised-packages'
  const inFolder = (directory: string, name: string, version: string) => ({
    name,
    version,
    directory,
    path: `${directory}/node_modules/${name}/package.json`,
  })

  it('are told by name and version, once however often they are installed', () => {
    const nvm = '/home/ada/.nvm/versions/node/v24.1.0/lib'
    const rows = runCatalogueCheck(slug, 'linux', {
      file: [{ path: `${nvm}/node_modules/npm/package.json` }],
      npm_packages: [
        inFolder(nvm, 'debug', '4.4.2'),
        inFolder('/usr/local/lib', 'debug', '4.4.2'),
        inFolder('/usr/local/lib', 'debug', '4.4.3'),
        inFolder('/usr/local/lib', '@ctrl/tinycolor', '4.1.1'),
        inFolder('/srv/app', 'chalk', '5.6.1'),
      ],
    })
    expect(rows.map(({ package: name, version, path }) => [name, version, path])).toEqual([
      ['@ctrl/tinycolor', '4.1.1', '/usr/local/lib/node_modules/@ctrl/tinycolor/package.json'],
      ['debug', '4.4.2', `${nvm}/node_modules/debug/package.json`],
    ])
  })

  it.each([
    ['darwin', '/Users/ada/Library/Python/3.12/lib/python/site-packages', '/'],
    ['darwin', '/Users/ada/.local/share/uv/tools/proxy/lib/python3.13/site-packages', '/'],
    ['linux', '/usr/lib/python3/dist-packages', '/'],
    ['windows', String.raw`C:\Program Files\Python313\Lib\site-packages`, '\\'],
  ] as const)('of PyPI are found on %s in %s', (platform, folder, separator) => {
    const file = (name: string) => ({ path: [folder, name, 'METADATA'].join(separator) })
    const status = (name: string) => listVerdicts(slug, platform, { file: [file(name)] })
    expect(status('litellm-1.82.7.dist-info')).toEqual(['FAIL'])
    expect(status('litellm-1.82.9.dist-info')).toEqual(['PASS'])
    expect(status('xlitellm-1.82.7.dist-info')).toEqual(['PASS'])
  })

  it('are inapplicable without any package, and unknown without homes', () => {
    expect(listVerdicts(slug, 'linux', {})).toEqual(['INAPPLICABLE'])
    expect(listVerdicts(slug, 'linux', { users: [] })).toEqual(['UNKNOWN'])
  })
})

describe('banned applications', () => {
  it.each([
    ['darwin', { apps: [] }],
    ['windows', { programs: [] }],
    ['linux', { deb_packages: [] }],
  ] as const)('are unknown on %s where no software is listed', (platform, changes) => {
    expect(listVerdicts('banned-applications', platform, changes)).toEqual(['UNKNOWN'])
  })
})

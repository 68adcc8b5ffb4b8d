import { put, remove } from '../personas/template-rows.ts'
import type { KnobSource } from './knob.ts'

const EXTENSION = 'pajkjnmeojmbapicmbpliphjmcekeaac'

/** The knobs of software that attackers published; `npmFolder` is where global npm packages lie. */
export function maliciousSoftwareKnobs(npmFolder: string, separator: '/' | '\\'): KnobSource[] {
  const path = [npmFolder, 'node_modules', 'chalk', 'package.json'].join(separator)
  return [
    {
      name: 'malicious-extensions',
      title: 'No malicious browser extension is installed',
      good: [remove('chrome_extensions', { identifier: EXTENSION })],
      bad: [
        put(
          'chrome_extensions',
          {
            browser_type: 'chrome',
            uid: '{uid}',
            name: 'Cyberhaven security extension V3',
            profile: 'Person 1',
            identifier: EXTENSION,
            version: '24.10.4',
            path: ['{home}', 'Extensions', EXTENSION, '24.10.4_0'].join(separator),
            from_webstore: 'true',
            update_url: 'https://clients2.google.com/service/update2/crx',
            referenced: 1,
            state: '1',
          },
          'identifier',
        ),
      ],
    },
    {
      name: 'compromised-packages',
      title: 'No compromised package is installed',
      good: [remove('npm_packages', { path })],
      bad: [
        put(
          'npm_packages',
          { name: 'chalk', version: '5.6.1', path, directory: npmFolder },
          'path',
        ),
      ],
    },
  ]
}

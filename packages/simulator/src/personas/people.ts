import type { DevicePerson, Flavor } from './template-rows.ts'
import type { Platform } from '../platform.ts'

const NAMES = [
  'Ada Okafor',
  'Bruno Keller',
  'Chiara Lindqvist',
  'Daniel Moreau',
  'Elif Novak',
  'Farid Hansen',
  'Grace Ito',
  'Henrik Costa',
] as const

/** How the devices of a platform are spread over its flavours. */
const FLAVORS: Readonly<Record<Platform, readonly Flavor[]>> = {
  darwin: ['macos'],
  linux: ['ubuntu', 'fedora'],
  windows: ['windows'],
}

function describePerson(
  fullName: string,
  index: number,
  platform: Platform,
  flavor: Flavor,
): DevicePerson {
  const username = (fullName.split(' ')[0] ?? fullName).toLowerCase()
  switch (platform) {
    case 'darwin':
      return { flavor, username, fullName, uid: 501, home: `/Users/${username}`, sid: '' }
    case 'linux':
      return { flavor, username, fullName, uid: 1_000, home: `/home/${username}`, sid: '' }
    case 'windows': {
      const sid = `S-1-5-21-1004336348-1177238915-682003330-${1_001 + index}`
      return { flavor, username, fullName, uid: 1_001 + index, home: `C:\\Users\\${username}`, sid }
    }
  }
}

/** The people among whom the devices of a platform are given out. They do not exist. */
export function listPeople(platform: Platform): DevicePerson[] {
  return FLAVORS[platform].flatMap((flavor) =>
    NAMES.map((name, index) => describePerson(name, index, platform, flavor)),
  )
}

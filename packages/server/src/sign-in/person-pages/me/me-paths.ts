/** Where the pages of a person are. */
export const ME_PATHS = {
  devices: '/sign-in/me',
  signIn: '/sign-in/me/sign-in',
  finish: '/sign-in/me/finish',
  confirm: '/sign-in/me/confirm',
  endBrowser: '/sign-in/me/browsers/end',
  signOut: '/sign-in/me/sign-out',
  myData: '/sign-in/privacy/my-data',
} as const

/** Where a device of the person is. */
export function devicePath(id: string): string {
  return `${ME_PATHS.devices}/devices/${id}`
}

/** What the devices of the person have answered to a check. */
export function ownAnswerPath(checkId: string): string {
  return `/sign-in/privacy/checks/${checkId}/my-answer`
}

/** Where the console asks admins for a trusted device. */
const CONSOLE_DEVICE_PATH = '/console/trusted-device'

/**
 * A page that a sign-in may lead back to, of the person or that one of the console; for any other text the list of
 * devices.
 */
export function toOwnPath(path: string | undefined): string {
  const isKnown = path === CONSOLE_DEVICE_PATH || (path !== undefined && OWN_PATH.test(path))
  return isKnown ? path : ME_PATHS.devices
}

const OWN_PATH =
  /^\/sign-in\/(?:me(?:\/devices\/\d{1,18})?|privacy\/(?:my-data|checks\/\d{1,18}\/my-answer))$/

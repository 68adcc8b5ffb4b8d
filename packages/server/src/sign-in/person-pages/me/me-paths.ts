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

/** A page of the person that a sign-in may lead back to; the list of devices for any other text. */
export function toOwnPath(path: string | undefined): string {
  return path !== undefined && OWN_PATH.test(path) ? path : ME_PATHS.devices
}

const OWN_PATH = /^\/sign-in\/(?:me(?:\/devices\/\d{1,18})?|privacy\/my-data)$/
